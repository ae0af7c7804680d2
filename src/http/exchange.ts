/** What is known of a request while it is answered, kept beside it because every stage of answering adds to it. */
import { randomUUID } from 'node:crypto'
import type { OperationTypeNode } from 'graphql'
import type { Seq } from '../core/envelopes.js'
import type { Caller } from '../graphql/context.js'

export interface Exchange {
  readonly requestId: string
  /** Milliseconds, on the clock of `performance.now()`. */
  readonly startedAt: number
  caller?: Caller
  /** Of a stream: the position its reader comes to with the result that is taken next. */
  position?: Seq | undefined
  /** Of a stream: told when a frame was taken from it, to be made into a result. */
  onFrame?: (() => void) | undefined
  /** What its operations cost so far. */
  cost?: number
  /** Of a request with several operations. */
  batch?: {
    readonly size: number
    /** Resolves when the operation is over that was begun last. */
    last: Promise<unknown>
  }
  /** Not of a batch, which has several. */
  operation?: { readonly type: OperationTypeNode; readonly name: string | undefined }
}

const exchanges = new WeakMap<Request, Exchange>()

/** The exchange a request belongs to. It begins when it is first asked for. */
export const exchangeOf = (request: Request): Exchange => {
  const known = exchanges.get(request)
  if (known !== undefined) return known
  const begun: Exchange = {
    requestId: requestIdOf(request.headers.get('x-request-id')),
    startedAt: performance.now(),
  }
  exchanges.set(request, begun)
  return begun
}

/** The caller's own request id if it is sane: it is repeated in logs and headers. */
const requestIdOf = (given: string | null): string =>
  given !== null && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID()

/** The path of a request, whatever its authority is. */
export const pathOf = ({ url }: Request): string => /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? ''

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The W3C trace context of a request, if it has a valid one. */
export const traceparentOf = ({ headers }: Request): string | undefined => {
  const given = headers.get('traceparent')
  return given !== null && TRACEPARENT.test(given) ? given : undefined
}
