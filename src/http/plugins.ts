/** What surrounds every operation: who asks and what they ask, what they are told of errors, and one line of log. */
import type { DocumentNode, ExecutionResult } from 'graphql'
import { isAsyncIterable, mapAsyncIterator, type Plugin, type YogaInitialContext } from 'graphql-yoga'
import { internalErrorMessage, notAcceptable, presentResult, withStatus } from './errors.js'
import { exchangeOf, type Holding } from './exchange.js'
import type { ResolveActor } from './identity/auth.js'
import { authenticated } from './identity/caller.js'
import type { Peer } from './identity/peer.js'
import { batchOf } from './limits/batch.js'
import type { Limits } from './limits/limits.js'
import { noRoom } from './limits/memory.js'
import { operationOf } from './operation.js'
import { readParams } from './params.js'
import { replyText } from './reply.js'
import { answerRoute, type RoutesOptions } from './routes.js'
import type { Signals } from './signals.js'
import { acceptsStreamOnly } from './streams/sse.js'
import type { DocumentOf } from './trustedDocuments.js'
import type { UnderWay } from './underWay.js'

/** Answers what is no operation, gives every response its request's id, and shows every request to whoever looks on. */
export const useExchange = (routes: RoutesOptions, signals: Signals, underWay: UnderWay): Plugin => ({
  onRequest: async ({ request, endResponse }) => {
    underWay.begin(request)
    const { requestId } = exchangeOf(request)
    signals.requestBegan(request)
    try {
      const answer = await answerRoute(request, routes)
      if (answer !== null) endResponse(answer)
    } catch (err) {
      signals.log.error({ requestId, err }, 'unforeseen error')
      endResponse(replyText(500, internalErrorMessage(requestId)))
    }
  },
  onResponse: ({ request, response }) => {
    underWay.end(request)
    const { requestId, cost } = exchangeOf(request)
    response.headers.set('x-request-id', requestId)
    if (cost !== undefined) response.headers.set('x-graphql-cost', String(Math.ceil(cost)))
    if (routes.health.stopping) response.headers.set('connection', 'close')
    signals.requestAnswered(request, response)
  },
})

/** What is known of the connection of a request, besides the request. */
export interface Connected {
  readonly peer?: Peer | undefined
  /** What is held for the request. */
  readonly holding?: Holding | undefined
}

export interface OperationsOptions {
  readonly resolveActor: ResolveActor
  readonly limits: Limits
}

/** Resolves who asks, then reads what they ask: nothing is read of a request without valid credentials. */
export const useOperations = (
  { resolveActor, limits }: OperationsOptions,
  documentOf: DocumentOf,
  signals: Signals,
): Plugin<YogaInitialContext, Connected> => ({
  onRequestParse: async ({ request, setRequestParser, serverContext }) => {
    const exchange = exchangeOf(request)
    if (!acceptsResult(request))
      throw notAcceptable(
        'Nothing in accept can be answered: accept application/json, application/graphql-response+json or text/event-stream.',
      )
    const { peer = {}, holding } = serverContext
    exchange.caller = await authenticated(request, peer, resolveActor)
    holding?.belongTo(exchange.caller.tenantId)
    exchange.holding = holding
    setRequestParser(async (parsed) => {
      const params = await readParams(parsed, limits, (bytes) => {
        if (holding?.take(bytes) === false) throw noRoom()
      })
      if (Array.isArray(params)) exchange.batch = batchOf(params.length)
      return params
    })
  },
  onParams: ({ params, setParams }) => setParams(operationOf(params, documentOf(params))),
  onParse:
    () =>
    ({ context: { request, params }, result }) => {
      if (isDocument(result)) signals.operationBegan(exchangeOf(request), result, params)
    },
})

/** Refused before anything is executed, since nobody would hear of it. */
const acceptsResult = ({ headers }: Request): boolean =>
  /^\s*$|\*\/\*|application\/(\*|json|graphql-response\+json)|text\/event-stream|multipart\/mixed/i.test(
    headers.get('accept') ?? '',
  )

const isDocument = (result: DocumentNode | Error | null): result is DocumentNode =>
  result !== null && !(result instanceof Error)

/** The one place where results leave for clients, whether they come whole or one by one. */
export const usePresentedErrors = (signals: Signals): Plugin => ({
  onResultProcess: ({ request, result, setResult }) => {
    const exchange = exchangeOf(request)
    const isPlain =
      /application\/json/i.test(request.headers.get('accept') ?? '') || acceptsStreamOnly(request)
    const present = (one: ExecutionResult) => presentResult(one, exchange, signals.log)
    const finished = (one: ExecutionResult) => (isPlain ? one : withStatus(one))
    const end = (one: ExecutionResult) => {
      const presented = present(one)
      signals.operationEnded(exchange, presented)
      return finished(presented)
    }
    if (isAsyncIterable(result)) {
      signals.operationEnded(exchange, null)
      setResult(mapAsyncIterator(result, end))
    } else if (Array.isArray(result)) {
      const presented = result.map(present)
      signals.batchEnded(exchange, presented)
      setResult(presented.map(finished))
    } else setResult(end(result))
  },
})
