/** Subscriptions over Server-Sent Events: the responses, and which of them are open. */
import { ServerResponse } from 'node:http'
import { type ExecutionResult, GraphQLError } from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import { z } from 'zod'
import { notAcceptable } from '../errors.js'
import { type Exchange, exchangeOf, fieldsOf } from '../exchange.js'
import type { Ending } from '../observer.js'
import type { Signals, StreamSignals } from '../signals.js'
import { EventStream } from './eventStream.js'
import { FAREWELL, type Patience, withoutInternals } from './streams.js'

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
  readonly #signals: Signals
  readonly #open = new Set<Open>()
  #isClosed = false

  constructor(patience: Patience, signals: Signals) {
    this.#patience = patience
    this.#signals = signals
  }

  /** Answers with a stream whoever accepts one; in the place of Yoga's own, which has no ids. */
  readonly plugin: Plugin = {
    onSubscribe: ({ args, setResultAndStopExecution }) => {
      const { request }: { request: Request } = args.contextValue
      if (exchangeOf(request).transport === 'http' && !acceptsStream(request))
        setResultAndStopExecution({ errors: [notAcceptable(STREAM_ALONE)] })
    },
    onResultProcess: ({ request, result, resultProcessor, setResultProcessor, serverContext }) => {
      const isStream = isAsyncIterable(result)
      if (!(isStream ? acceptsStream(request) : acceptsStreamOnly(request))) {
        // What was asked for there is not; why is told all the same.
        if (resultProcessor === undefined)
          setResultProcessor(
            (processed, fetchAPI) => new fetchAPI.Response(...toldAnyway(processed)),
            'application/json',
          )
        return
      }
      const response = responseIn(serverContext)
      setResultProcessor((processed, fetchAPI) => {
        const results = resultsIn(processed)
        // Nobody would ever end what nobody reads.
        if (request.signal.aborted || response?.destroyed === true) void results.return?.()
        const body = new fetchAPI.ReadableStream(this.#stream(results, exchangeOf(request), response))
        const { status, headers } = isStream ? { status: 200, headers: {} } : saidToHttp(processed)
        return new fetchAPI.Response(body, { status, headers: { ...headers, ...HEADERS } })
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
    let signals: StreamSignals | undefined
    const onEnd = (ending: Ending) => {
      this.#open.delete(open)
      if (ending === 'slow' && response !== undefined) cutAfter(lingering, response)
      signals?.ended(ending)
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
        signals = this.#signals.streamBegan(exchange, 'sse')
        if (this.#isClosed) stream.complete()
      },
      onSent: (result) => signals?.sent(result),
      onEnd,
      onError: (err) => this.#signals.log.error({ ...fieldsOf(exchange), err }, 'unforeseen error'),
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

const STREAM_ALONE = `A subscription is answered with a stream: accept ${STREAM}, or use a WebSocket.`

/** The errors of an operation as JSON, for whoever did not ask for that. */
const toldAnyway = (result: Processed): [string, ResponseInit] => {
  const { status, headers } = saidToHttp(result)
  const errors = 'errors' in result && result.errors ? withoutInternals({ errors: result.errors }) : {}
  return [
    JSON.stringify(errors),
    { status, headers: { ...headers, 'content-type': 'application/json; charset=utf-8' } },
  ]
}

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

type Processed = AsyncIterable<ExecutionResult> | ExecutionResult | ExecutionResult[]

const resultsIn = (processed: Processed): Results => {
  if (isAsyncIterable(processed)) return processed[Symbol.asyncIterator]()
  return only(Array.isArray(processed) ? processed : [processed])
}

async function* only(results: readonly ExecutionResult[]): AsyncGenerator<ExecutionResult> {
  yield* results
}

interface SaidToHttp {
  readonly status: number
  readonly headers: Record<string, string>
}

const saidSchema = z.object({
  status: z.number().default(200),
  headers: z.record(z.string(), z.string()).default({}),
})

/** What an error says to HTTP. */
const saidToHttp = (result: unknown): SaidToHttp => {
  const errors = typeof result === 'object' && result !== null && 'errors' in result ? result.errors : null
  for (const error of Array.isArray(errors) ? errors : []) {
    const said = saidSchema.safeParse(error instanceof GraphQLError ? error.extensions['http'] : null)
    if (said.success) return said.data
  }
  return { status: 200, headers: {} }
}

/** Ends a connection that is not over by then. */
const cutAfter = (delay: number, response: ServerResponse): void => {
  if (response.closed) return
  const timer = setTimeout(() => response.destroy(), delay).unref()
  response.once('close', () => clearTimeout(timer))
}
