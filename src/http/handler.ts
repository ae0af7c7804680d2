/** Answers HTTP requests with a schema: Yoga, and what surrounds an operation as plugins of it. */
import { randomUUID } from 'node:crypto'
import type { IncomingMessage, RequestListener } from 'node:http'
import type { GraphQLSchema } from 'graphql'
import { createYoga, type YogaInitialContext } from 'graphql-yoga'
import type { Caller, GraphQLContext } from '../graphql/context.js'
import { PAGE_BYTES, Reads } from '../graphql/reads.js'
import { documentCaches } from './documents.js'
import type { Log } from './errors.js'
import { type Exchange, exchangeOf, fieldsOf, traceparentOf } from './exchange.js'
import { type Peer, peerOf } from './identity/peer.js'
import { useBatchOrder } from './limits/batch.js'
import { Memory, noRoomForResult } from './limits/memory.js'
import { useLimits } from './limits/plugin.js'
import { responseTooLarge, tooMuchRead } from './limits/response.js'
import type { HttpObserver } from './observer.js'
import { type CorsOptions, Origins } from './origins.js'
import { orLate } from './orLate.js'
import { GRAPHQL_PATH } from './paths.js'
import {
  type Connected,
  type OperationsOptions,
  useExchange,
  useOperations,
  usePresentedErrors,
} from './plugins.js'
import type { RoutesOptions } from './routes.js'
import { SECURITY_HEADERS, UNLESS_SAID, useSecurityHeaders } from './securityHeaders.js'
import { Signals } from './signals.js'
import { useLeanStreams } from './streams/lean.js'
import { EventStreams } from './streams/sse.js'
import { patienceOf, type StreamOptions } from './streams/streams.js'
import { Sockets, type UpgradeListener } from './streams/websocket.js'
import { documentsFrom, type TrustedDocuments } from './trustedDocuments.js'
import { UnderWay } from './underWay.js'
import { cutWhenStalled, whenTaken } from './untaken.js'

export interface HandlerOptions extends RoutesOptions, OperationsOptions {
  readonly streams: StreamOptions
  readonly cors: CorsOptions
  readonly schema: GraphQLSchema
  readonly log: Log
  readonly observer?: HttpObserver | undefined
  readonly introspection: boolean
  readonly trustedDocuments: TrustedDocuments | undefined
  /** What resolvers know besides the request. */
  readonly context: Pick<GraphQLContext, 'workspaces' | 'authorize' | 'runner'>
}

export interface Handler {
  /** For anything that speaks the web's Fetch. */
  readonly fetch: (request: Request, peer?: Peer) => Promise<Response>
  /** For Node's own server. */
  readonly handle: RequestListener
  /** For the `upgrade` event of Node's own server. */
  readonly upgrade: UpgradeListener
  /** Takes nothing new on a WebSocket, and waits for the operations under way that have one result, at most so long in milliseconds. */
  finishOperations(timeout: number): Promise<void>
  /** Ends every stream. */
  endStreams(): Promise<void>
  dispose(): Promise<void>
}

export const createHandler = ({ schema, log, observer, context, ...options }: HandlerOptions): Handler => {
  const { limits } = options
  const documentOf = documentsFrom(options.trustedDocuments)
  const patience = patienceOf(options.streams)
  const signals = new Signals(log, observer)
  const eventStreams = new EventStreams(patience, signals)
  const underWay = new UnderWay()
  const memory = new Memory(limits)
  observer?.watchHeld(() => memory.held)
  const origins = new Origins(options.cors)
  const yoga = createYoga<Connected>({
    schema,
    graphqlEndpoint: GRAPHQL_PATH,
    context: ({ request }: YogaInitialContext): GraphQLContext => {
      const exchange = exchangeOf(request)
      const { workspaces: allowedWorkspaces, ...caller } = callerOf(exchange.caller)
      return {
        ...context,
        ...caller,
        allowedWorkspaces,
        requestId: exchange.requestId,
        traceparent: traceparentOf(exchange),
        onBytes: (bytes) => {
          exchange.bytes += bytes
          if (exchange.bytes > limits.maxResponseBytes) throw responseTooLarge(limits.maxResponseBytes)
          holdOf(exchange, bytes)
        },
        reads: new Reads({
          onRead: () => {
            if (exchange.bytesRead > limits.maxResponseBytes) throw tooMuchRead(limits.maxResponseBytes)
            needRoom(exchange, PAGE_BYTES)
          },
          onBrought: (bytes) => {
            exchange.bytesRead += bytes
            if (exchange.bytesRead > limits.maxResponseBytes) throw tooMuchRead(limits.maxResponseBytes)
            holdOf(exchange, bytes)
          },
        }),
        onRefused: (refused) => {
          exchange.codes.add(refused.code)
          log.debug({ ...fieldsOf(exchange), ...refused }, 'command refused')
        },
        streaming: {
          lastEventId: request.headers.get('last-event-id') ?? undefined,
          onPosition: (seq) => {
            exchange.position = seq
          },
          onFrame: () => {
            exchange.bytes = 0
            exchange.bytesRead = 0
            exchange.onFrame?.()
          },
          recheckEvery: patience.recheckEvery,
        },
      }
    },
    plugins: [
      origins.plugin,
      useSecurityHeaders(),
      useExchange(options, signals, underWay),
      useOperations(options, documentOf, signals),
      useBatchOrder(),
      useLimits(limits, options.introspection, memory),
      useLeanStreams(),
      usePresentedErrors(signals),
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
    cors: origins.cors,
    // Yoga answers any URL that ends so, and none can.
    healthCheckEndpoint: '\n',
  })
  const sockets = new Sockets({
    engineFor: (request, params) => yoga.getEnveloped({ request, params }),
    documentOf,
    resolveActor: options.resolveActor,
    origins,
    maxPayload: limits.maxBodyBytes,
    patience,
    signals,
  })
  return {
    fetch: async (request, peer) => {
      const holding = memory.hold()
      try {
        return await yoga.fetch(request, { peer, holding })
      } finally {
        // It is the application's now.
        holding.release()
      }
    },
    handle: (request, response) => {
      cutWhenStalled(response, patience.stallTimeout)
      if (isAddressed(request)) {
        const holding = memory.hold()
        whenTaken(request, response, () => holding.release())
        void yoga(request, response, { peer: peerOf(request.socket), holding })
      } else
        response
          .writeHead(400, {
            ...SECURITY_HEADERS,
            ...UNLESS_SAID,
            'content-type': 'text/plain; charset=utf-8',
            'x-request-id': randomUUID(),
          })
          .end(NOT_ADDRESSED)
    },
    upgrade: (request, socket, head) => sockets.upgrade(request, socket, head),
    finishOperations: async (timeout) => {
      await orLate(timeout, Promise.all([underWay.over(), sockets.rest()]), undefined)
    },
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

/** What a read brings is there before it is counted: it does not begin where there is no room for it. */
const needRoom = ({ isStream, holding }: Exchange, bytes: number): void => {
  if (!isStream && holding?.hasRoom(bytes) === false) throw noRoomForResult()
}

/** Results are held as a whole. The frames of a stream have bounds of their own. */
const holdOf = ({ isStream, holding }: Exchange, bytes: number): void => {
  if (!isStream && holding?.take(bytes) === false) throw noRoomForResult()
}

/** Only an operation that was authenticated is executed. */
const callerOf = (caller: Caller | undefined): Caller => {
  if (caller === undefined) throw new Error('an operation without a caller')
  return caller
}
