/** What is known of a request while it is answered, kept beside it because every stage of answering adds to it. */
import { randomUUID } from 'node:crypto'
import type { OperationTypeNode } from 'graphql'
import type { Seq } from '../core/envelopes.js'
import type { Caller } from '../graphql/context.js'
import { type Span, traceIdOf } from '../tracing/span.js'
import type { Transport } from './observer.js'

/** What is asked for. */
export interface Operation {
  readonly type: OperationTypeNode
  /** As the client chose to call it. */
  readonly name: string | undefined
  /** Of a subscription: the field of the schema. */
  readonly field: string | undefined
  readonly span: Span
  /** The texts in its document and variables. */
  readonly texts: () => Iterable<string>
}

/** Several operations in one request, each begun when the one before is over. */
interface Batch {
  readonly size: number
  /** Resolves when the operation is over that was begun last. */
  last: Promise<unknown>
  /** What was asked by those that are over, where that was understood, and how long they took, in seconds. */
  readonly over: { readonly operation: Operation | undefined; readonly seconds: number }[]
}

/** What is held in memory for one request. */
export interface Holding {
  /** Whose it is. Before that is known it is nobody's. */
  belongTo(tenantId: string): void
  /** Whether there is room for so many more bytes. */
  hasRoom(bytes: number): boolean
  /** Whether there is room for so many more bytes: then they count. */
  take(bytes: number): boolean
  /** Is at work for it: what is taken meanwhile counts, even where nobody waits for it any more. */
  during<Result>(work: () => Promise<Result>): Promise<Result>
  /** Its client has all of it, or is gone. May be called again. */
  release(): void
}

export interface Exchange {
  readonly requestId: string
  /** Milliseconds, on the clock of `performance.now()`. */
  readonly startedAt: number
  /** The W3C trace context it came with. */
  readonly traceparent: string | undefined
  /** Codes of errors and refusals it was answered with. */
  readonly codes: Set<string>
  transport: Transport
  /** Of an HTTP request. */
  span?: Span
  caller?: Caller
  /** Of a stream: the position its reader comes to with the result that is taken next. */
  position?: Seq | undefined
  /** In a batch, the one under way. */
  operation?: Operation | undefined
  /** Whether it is known what became of the operation. */
  isOver: boolean
  /** Whether what became of it is a stream. */
  isStream: boolean
  /** Of a stream: told when a frame was taken from it, to be made into a result. */
  onFrame?: (() => void) | undefined
  /** How much its results hold so far, or the frame that is made of a stream. */
  bytes: number
  /** How much was read of the storage for them. */
  bytesRead: number
  /** What is held in memory for it. */
  holding?: Holding | undefined
  /** What its operations cost so far. */
  cost?: number
  /** Of a request with several operations. */
  batch?: Batch
}

const exchanges = new WeakMap<Request, Exchange>()

/** The exchange a request belongs to. It begins when it is first asked for. */
export const exchangeOf = (request: Request): Exchange => {
  const known = exchanges.get(request)
  if (known !== undefined) return known
  const begun: Exchange = {
    requestId: requestIdOf(request.headers.get('x-request-id')),
    startedAt: performance.now(),
    traceparent: traceparentIn(request),
    codes: new Set(),
    transport: 'http',
    isOver: false,
    isStream: false,
    bytes: 0,
    bytesRead: 0,
  }
  exchanges.set(request, begun)
  return begun
}

/** The trace context for what is done in its name. */
export const traceparentOf = ({ operation, span, traceparent }: Exchange): string | undefined =>
  (operation?.span ?? span)?.traceparent ?? traceparent

/** How much of what a client chose is logged, in UTF-16 units. */
export const MAX_LOGGED = 128

/** What every line of log says of the request it is about. */
export const fieldsOf = (exchange: Exchange) => {
  const { requestId, operation, caller } = exchange
  return {
    requestId,
    tenant: caller?.tenantId,
    operationType: operation?.type,
    operationName: operation?.name?.slice(0, MAX_LOGGED),
    traceId: traceIdOf(traceparentOf(exchange)),
  }
}

/** Milliseconds since it began. */
export const durationOf = ({ startedAt }: Exchange): number =>
  Math.round((performance.now() - startedAt) * 1000) / 1000

/** The caller's own request id if it is sane: it is repeated in logs and headers. */
const requestIdOf = (given: string | null): string =>
  given !== null && /^[\x21-\x7e]{1,128}$/.test(given) ? given : randomUUID()

/** The path of a request, whatever its authority is. */
export const pathOf = ({ url }: Request): string => /^[a-z]+:\/\/[^/?#]*([^?#]*)/i.exec(url)?.[1] ?? ''

const TRACEPARENT = /^(?!ff)[0-9a-f]{2}-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/

/** The W3C trace context of a request, if it has a valid one. */
const traceparentIn = ({ headers }: Request): string | undefined => {
  const given = headers.get('traceparent')
  return given !== null && TRACEPARENT.test(given) ? given : undefined
}
