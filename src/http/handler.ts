/** Answers HTTP requests with a schema: Yoga, and what surrounds an operation as plugins of it. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { GraphQLSchema } from 'graphql'
import { createYoga, type YogaInitialContext } from 'graphql-yoga'
import type { Caller, GraphQLContext } from '../graphql/context.js'
import { documentCaches } from './documents.js'
import type { Log } from './errors.js'
import { exchangeOf, traceparentOf } from './exchange.js'
import { useBatchOrder } from './limits/batch.js'
import { useLimits } from './limits/plugin.js'
import { type OperationsOptions, useExchange, useOperations, usePresentedErrors } from './plugins.js'
import { GRAPHQL_PATH, type RoutesOptions } from './routes.js'
import { EventStreams } from './sse.js'
import { patienceOf, type StreamOptions } from './streams.js'
import { documentsFrom, type TrustedDocuments } from './trustedDocuments.js'
import { Sockets, type UpgradeListener } from './websocket.js'

export interface HandlerOptions extends RoutesOptions, OperationsOptions {
  readonly streams: StreamOptions
  readonly schema: GraphQLSchema
  readonly log: Log
  readonly introspection: boolean
  readonly trustedDocuments: TrustedDocuments | undefined
  /** What resolvers know besides the request. */
  readonly context: Pick<GraphQLContext, 'workspaces' | 'authorize' | 'runner'>
}

export interface Handler {
  /** For anything that speaks the web's Fetch. */
  readonly fetch: (request: Request) => Promise<Response>
  /** For Node's own server. */
  readonly handle: RequestListener
  /** For the `upgrade` event of Node's own server. */
  readonly upgrade: UpgradeListener
  /** Ends every stream: what is under way otherwise is finished. */
  endStreams(): Promise<void>
  dispose(): Promise<void>
}

export const createHandler = ({ schema, log, context, ...options }: HandlerOptions): Handler => {
  const { limits } = options
  const documentOf = documentsFrom(options.trustedDocuments)
  const patience = patienceOf(options.streams)
  const eventStreams = new EventStreams(patience, log)
  const yoga = createYoga({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    context: ({ request }: YogaInitialContext): GraphQLContext => {
      const exchange = exchangeOf(request)
      return {
        ...context,
        ...callerOf(exchange.caller),
        requestId: exchange.requestId,
        traceparent: traceparentOf(request),
        streaming: {
          lastEventId: request.headers.get('last-event-id') ?? undefined,
          onPosition: (seq) => {
            exchange.position = seq
          },
          onFrame: () => exchange.onFrame?.(),
          recheckEvery: patience.recheckEvery,
        },
      }
    },
    plugins: [
      useExchange(options, log),
      useOperations(options, documentOf),
      useBatchOrder(),
      useLimits(limits, options.introspection),
      usePresentedErrors(log),
      eventStreams.plugin,
    ],
    extraParamNames: ['documentId'],
    batching: { limit: limits.maxBatch },
    parserAndValidationCache: documentCaches(),
    // Ours: errors.ts, params.ts and routes.ts.
    maskedErrors: false,
    logging: false,
    maxRequestBodySize: false,
    multipart: false,
    graphiql: false,
    landingPage: false,
    cors: false,
    // Yoga answers any URL that ends so, and none can.
    healthCheckEndpoint: '\n',
  })
  const sockets = new Sockets({
    engineFor: (request, params) => yoga.getEnveloped({ request, params }),
    documentOf,
    resolveActor: options.resolveActor,
    maxPayload: limits.maxBodyBytes,
    patience,
    log,
  })
  return {
    fetch: async (request) => yoga.fetch(request),
    handle: (request, response) => {
      if (isAddressed(request)) void yoga(request, response)
      else
        response
          .writeHead(400, { 'content-type': 'text/plain; charset=utf-8', 'x-request-id': randomUUID() })
          .end(NOT_ADDRESSED)
    },
    upgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
    endStreams: async () => {
      await Promise.all([eventStreams.close(), sockets.close()])
    },
    dispose: async () => {
      await yoga.dispose()
    },
  }
}

const NOT_ADDRESSED = 'The address of the request is not understood.\n'

/** Whether path and host make an address; Yoga would show the stack of the error. */
const isAddressed = ({ url, headers }: IncomingMessage): boolean =>
  URL.canParse(`http://${headers.host ?? 'localhost'}${url}`)

/** Only an operation that was authenticated is executed. */
const callerOf = (caller: Caller | undefined): Caller => {
  if (caller === undefined) throw new Error('an operation without a caller')
  return caller
}
