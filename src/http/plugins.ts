/** What surrounds every operation: who asks and what they ask, what they are told of errors, and one line of log. */
import { type DocumentNode, type ExecutionResult, getOperationAST } from 'graphql'
import { isAsyncIterable, mapAsyncIterator, type Plugin } from 'graphql-yoga'
import { z } from 'zod'
import { actorSchema } from '../core/actors.js'
import { idSchema } from '../core/text.js'
import type { Caller } from '../graphql/context.js'
import { type ResolveActor, Unauthenticated } from './auth.js'
import { internalErrorMessage, type Log, presentResult, refusal, withStatus } from './errors.js'
import { type Exchange, exchangeOf, pathOf } from './exchange.js'
import { readParams } from './params.js'
import { replyText } from './reply.js'
import { answerRoute, type RoutesOptions } from './routes.js'
import { acceptsStreamOnly } from './sse.js'

/** How much of what a client chose is logged, in UTF-16 units. */
const MAX_LOGGED = 128

/** Answers what is no operation, gives every response its request's id, and logs every request: never its content. */
export const useExchange = (routes: RoutesOptions, log: Log): Plugin => ({
  onRequest: async ({ request, endResponse }) => {
    const { requestId } = exchangeOf(request)
    try {
      const answer = await answerRoute(request, routes)
      if (answer !== null) endResponse(answer)
    } catch (err) {
      log.error({ requestId, err }, 'unforeseen error')
      endResponse(replyText(500, internalErrorMessage(requestId)))
    }
  },
  onResponse: ({ request, response }) => {
    const { requestId, startedAt, caller, operation } = exchangeOf(request)
    response.headers.set('x-request-id', requestId)
    if (routes.health.stopping) response.headers.set('connection', 'close')
    const path = pathOf(request)
    const level = path === '/health' || path === '/ready' ? 'debug' : 'info'
    log[level](
      {
        requestId,
        method: request.method,
        path: path.slice(0, MAX_LOGGED),
        status: response.status,
        durationMs: Math.round((performance.now() - startedAt) * 1000) / 1000,
        operationType: operation?.type,
        operationName: operation?.name,
        tenant: caller?.tenantId,
      },
      'request',
    )
  },
})

export interface OperationsOptions {
  readonly resolveActor: ResolveActor
  readonly maxBodyBytes: number
}

/** Resolves who asks, then reads what they ask: nothing is read of a request without valid credentials. */
export const useOperations = ({ resolveActor, maxBodyBytes }: OperationsOptions): Plugin => ({
  onRequestParse: async ({ request, setRequestParser }) => {
    const exchange = exchangeOf(request)
    if (!acceptsResult(request))
      throw refusal(406, 'NOT_ACCEPTABLE', 'No media type in accept can be answered.')
    exchange.caller = await authenticated(request, resolveActor)
    setRequestParser((parsed) => readParams(parsed, maxBodyBytes))
  },
  onParse:
    () =>
    ({ context: { request, params }, result }) => {
      if (isDocument(result)) noteOperation(exchangeOf(request), result, params.operationName)
    },
})

/** Refused before anything is executed, since nobody would hear of it. */
const acceptsResult = ({ headers }: Request): boolean =>
  /^\s*$|\*\/\*|application\/(\*|json|graphql-response\+json)|text\/event-stream|multipart\/mixed/i.test(
    headers.get('accept') ?? '',
  )

const callerSchema = z.object({
  tenantId: idSchema,
  actor: actorSchema,
  expiresAt: z.number().optional(),
})

/** @throws GraphQLError with code UNAUTHENTICATED, or whatever is wrong with `resolveActor`. */
export const authenticated = async (request: Request, resolveActor: ResolveActor): Promise<Caller> => {
  try {
    return callerSchema.parse(await resolveActor(request))
  } catch (error) {
    if (error instanceof Unauthenticated) throw refusal(401, 'UNAUTHENTICATED', error.message)
    throw error
  }
}

const isDocument = (result: DocumentNode | Error | null): result is DocumentNode =>
  result !== null && !(result instanceof Error)

/** For the log. The name is cut, since a client chooses it. */
const noteOperation = (
  exchange: Exchange,
  document: DocumentNode,
  operationName: string | undefined,
): void => {
  const operation = getOperationAST(document, operationName)
  if (operation)
    exchange.operation = { type: operation.operation, name: operation.name?.value.slice(0, MAX_LOGGED) }
}

/** The one place where results leave for clients, whether they come whole or one by one. */
export const usePresentedErrors = (log: Log): Plugin => ({
  onResultProcess: ({ request, result, setResult }) => {
    const exchange = exchangeOf(request)
    const isPlain =
      /application\/json/i.test(request.headers.get('accept') ?? '') || acceptsStreamOnly(request)
    const present = (one: ExecutionResult) => {
      const presented = presentResult(one, exchange, log)
      return isPlain ? presented : withStatus(presented)
    }
    if (isAsyncIterable(result)) setResult(mapAsyncIterator(result, present))
    else if (Array.isArray(result)) setResult(result.map(present))
    else setResult(present(result))
  },
})
