/** How long texts may be: none is longer than a message may be (domain §2). Ids and data have bounds of their own. */
import { invalid } from './rejections.js'

/** The fields of commands and facts that hold what people write, */
const prose = ['title', 'content', 'summary', 'rationale', 'reason', 'name'] as const

/** @throws ValidationFailed naming the field. */
export const checkLengths = (item: object, most: number, path: readonly string[] = []): void => {
  for (const field of prose) {
    const value: unknown = Reflect.get(item, field)
    if (typeof value === 'string' && value.length > most)
      throw invalid([...path, field], `must have at most ${most} UTF-16 units`)
  }
}
