/** Subscriptions over Server-Sent Events: the responses, and which of them are open. */
import { ServerResponse } from 'node:http'
import { type ExecutionResult, GraphQLError } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { Log } from './errors.js'
import { type Ending, EventStream } from './eventStream.js'
import { type Exchange, exchangeOf } from './exchange.js'
import { FAREWELL, type Patience } from './streams.js'

/** Neither held back nor changed on the way: `no-transform` speaks to whoever compresses, `x-accel-buffering` to whoever buffers. */
const HEADERS = {
  'content-type': 'text/event-stream; charset=utf-8',
  'cache-control': 'no-cache, no-transform',
  'x-accel-buffering': 'no',
  connection: 'keep-alive',
}

type Results = AsyncIterator<ExecutionResult, unknown>

interface Open {
  readonly stream: EventStream
  readonly response: ServerResponse | undefined
}

export class EventStreams {
  readonly #patience: Patience
  readonly #log: Log
  readonly #open = new Set<Open>()
  #isClosed = false

  constructor(patience: Patience, log: Log) {
    this.#patience = patience
    this.#log = log
  }

  /** Answers with a stream whoever accepts one; in the place of Yoga's own, which has no ids. */
  readonly plugin: Plugin = {
    onResultProcess: ({ request, result, setResultProcessor, serverContext }) => {
      const isStream = isAsyncIterable(result)
      if (!(isStream ? acceptsStream(request) : acceptsStreamOnly(request))) return
      const response = responseIn(serverContext)
      setResultProcessor((processed, fetchAPI) => {
        const results = resultsIn(processed)
        // Nobody would ever end what nobody reads.
        if (request.signal.aborted || response?.destroyed === true) void results.return?.()
        const body = new fetchAPI.ReadableStream(this.#stream(results, exchangeOf(request), response))
        const init = { status: isStream ? 200 : statusOf(processed), headers: HEADERS }
        return new fetchAPI.Response(body, init)
      }, 'text/event-stream')
    },
  }

  /** Completes every stream. A reader that does not even take that is cut off. */
  async close(): Promise<void> {
    this.#isClosed = true
    for (const { stream, response } of [...this.#open]) {
      stream.complete()
      if (response !== undefined) cutAfter(FAREWELL, response)
    }
  }

  #stream(
    results: Results,
    exchange: Exchange,
    response: ServerResponse | undefined,
  ): UnderlyingDefaultSource<Uint8Array> {
    const { pingEvery, stallTimeout, lingering } = this.#patience
    const { requestId, startedAt } = exchange
    const onEnd = (ending: Ending) => {
      this.#open.delete(open)
      if (ending === 'slow' && response !== undefined) cutAfter(lingering, response)
      const durationMs = Math.round(performance.now() - startedAt)
      this.#log.info({ requestId, ending, durationMs }, 'stream ended')
    }
    const stream = new EventStream({
      results,
      takePosition: () => {
        const { position } = exchange
        exchange.position = undefined
        return position
      },
      pingEvery,
      stallTimeout,
      onBegin: () => {
        this.#open.add(open)
        if (this.#isClosed) stream.complete()
      },
      onEnd,
      onError: (err) => this.#log.error({ requestId, err }, 'unforeseen error'),
    })
    const open: Open = { stream, response }
    return {
      start: (controller) => stream.start(controller),
      pull: (controller) => stream.pull(controller),
      cancel: () => stream.cancel(),
    }
  }
}

const STREAM = 'text/event-stream'

const accepted = ({ headers }: Request): string[] =>
  (headers.get('accept') ?? '*/*').split(',').map((type) => type.split(';')[0]?.trim().toLowerCase() ?? '')

const acceptsStream = (request: Request): boolean =>
  accepted(request).some((type) => type === STREAM || type === 'text/*' || type === '*/*' || type === '')

/** Whether nothing but a stream is asked for: then errors come in one as well. */
export const acceptsStreamOnly = (request: Request): boolean =>
  accepted(request).every((type) => type === STREAM)

/** The response of Node's server, where there is one. */
const responseIn = (context: object): ServerResponse | undefined =>
  'res' in context && context.res instanceof ServerResponse ? context.res : undefined

const resultsIn = (
  processed: AsyncIterable<ExecutionResult> | ExecutionResult | ExecutionResult[],
): Results => {
  if (isAsyncIterable(processed)) return processed[Symbol.asyncIterator]()
  return only(Array.isArray(processed) ? processed : [processed])
}

async function* only(results: readonly ExecutionResult[]): AsyncGenerator<ExecutionResult> {
  yield* results
}

/** What an error says to HTTP. */
const statusOf = (result: unknown): number => {
  const errors = typeof result === 'object' && result !== null && 'errors' in result ? result.errors : null
  for (const error of Array.isArray(errors) ? errors : []) {
    const http = error instanceof GraphQLError ? error.extensions['http'] : null
    if (typeof http === 'object' && http !== null && 'status' in http && typeof http.status === 'number')
      return http.status
  }
  return 200
}

/** Ends a connection that is not over by then. */
const cutAfter = (delay: number, response: ServerResponse): void => {
  if (response.closed) return
  const timer = setTimeout(() => response.destroy(), delay).unref()
  response.once('close', () => clearTimeout(timer))
}
