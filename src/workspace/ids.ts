/** Ids for what a caller leaves unnamed (domain §2): a prefix that tells the kind, a time so that they sort, and chance. */
import { randomBytes } from 'node:crypto'

export type IdPrefix = 'thr' | 'msg' | 'art' | 'prp' | 'run' | 'evt'

/** Such as `msg_01k9w3c8r2k7v5m0x4tq6j1n9h`: 40 bits of time in milliseconds and 90 of chance, in base 32. */
export const newId = (prefix: IdPrefix): string => {
  const time = Date.now().toString(32).padStart(9, '0')
  const chance = [...randomBytes(18)].map((byte) => (byte & 31).toString(32)).join('')
  return `${prefix}_${time}${chance}`
}
