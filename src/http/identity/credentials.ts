/** The credentials of a WebSocket, as a request has them: what came with its upgrade, and what its first message says. */
import type { IncomingMessage } from 'node:http'

/** Headers of the upgrade that say nothing of who asks, or speak of one request only. */
const OF_THE_UPGRADE =
  /^(connection|upgrade|sec-websocket-.*|last-event-id|x-request-id|traceparent|content-length)$/

/** What a payload may say, as Node bounds the headers of a request: in names, and in bytes of names and values. */
const MAX_NAMES = 100
const MAX_BYTES = 16_384

/** A payload says more than headers may. */
export class TooManyCredentials extends Error {
  override readonly name = 'TooManyCredentials'

  constructor() {
    super(`connection_init names more than ${MAX_NAMES} headers, or more than ${MAX_BYTES} bytes of them`)
  }
}

/**
 * The headers that a WebSocket has. A payload of `connection_init` names them as its keys, or as those of its `headers`, in
 * upper or lower case. It adds to the headers of the upgrade and overrides none: what a proxy has set there stands.
 *
 * @throws TooManyCredentials
 */
export const credentialHeaders = (upgrade: IncomingMessage, payload: unknown): Headers => {
  const headers = new Headers()
  for (const [name, value] of Object.entries(upgrade.headers)) {
    if (value !== undefined && !OF_THE_UPGRADE.test(name))
      headers.set(name, Array.isArray(value) ? value.join(', ') : value)
  }
  let names = 0
  let bytes = 0
  for (const [name, value] of saidIn(payload)) {
    bytes += Buffer.byteLength(name) + Buffer.byteLength(value)
    if (++names > MAX_NAMES || bytes > MAX_BYTES) throw new TooManyCredentials()
    if (isName(name) && !OF_THE_UPGRADE.test(name.toLowerCase()) && !headers.has(name))
      headers.set(name, inBytes(value))
  }
  return headers
}

function* saidIn(payload: unknown): Iterable<[string, string]> {
  if (typeof payload !== 'object' || payload === null) return
  const { headers = null, ...keys }: { headers?: unknown } = payload
  for (const [name, value] of [...entriesOf(headers), ...entriesOf(keys)]) {
    if (typeof value === 'string' || typeof value === 'number') yield [name, String(value)]
  }
}

const entriesOf = (value: unknown): [string, unknown][] =>
  typeof value === 'object' && value !== null ? Object.entries(value) : []

const isName = (name: string): boolean => /^[!#$%&'*+.^_`|~0-9a-z-]+$/i.test(name)

/** A header's bytes are UTF-8, and handed over as Latin-1. What no header may hold is left out. */
const inBytes = (value: string): string =>
  Buffer.from(value.replaceAll(/[\0\r\n]/g, ''), 'utf8').toString('latin1')
