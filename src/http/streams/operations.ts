/** Carries out operations that come over a WebSocket as those are that come over HTTP: by the same engine, with the same errors. */
import {
  type DocumentNode,
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  type GraphQLSchema,
} from 'graphql'
import type { SubscribePayload } from 'graphql-ws'
import { type GraphQLParams, isAsyncIterable } from 'graphql-yoga'
import type { Caller } from '../../graphql/context.js'
import { asGraphQLError, type ErrorCode, presentResult } from '../errors.js'
import { type Exchange, exchangeOf } from '../exchange.js'
import { operationOf } from '../operation.js'
import type { Signals } from '../signals.js'
import type { DocumentOf } from '../trustedDocuments.js'
import type { Connection } from './connection.js'
import { leanDocument } from './lean.js'
import { withoutInternals } from './streams.js'

type Executed = ExecutionResult | AsyncIterable<ExecutionResult>

/** What carries out an operation. */
interface Engine {
  readonly schema: GraphQLSchema
  parse(query: string): DocumentNode
  validate(schema: GraphQLSchema, document: DocumentNode): readonly GraphQLError[]
  contextFactory(): unknown
  execute(args: ExecutionArgs): Promise<Executed> | Executed
  subscribe(args: ExecutionArgs): Promise<Executed> | Executed
}

export type EngineFor = (request: Request, params: GraphQLParams) => Engine

/** The most operations that are under way on one WebSocket. */
const MAX_OPERATIONS = 256

interface Operation {
  readonly engine: Engine
  readonly exchange: Exchange
  readonly connection: Connection
}

export class Operations {
  readonly #engineFor: EngineFor
  readonly #documentOf: DocumentOf
  readonly #signals: Signals
  /** By the arguments they are executed with. */
  readonly #prepared = new WeakMap<object, Operation>()

  constructor(engineFor: EngineFor, documentOf: DocumentOf, signals: Signals) {
    this.#engineFor = engineFor
    this.#documentOf = documentOf
    this.#signals = signals
  }

  /**
   * What an operation is executed with, or why it is not.
   *
   * @param underWay How many there are on its WebSocket, this one included.
   */
  async prepare(connection: Connection, underWay: number): Promise<ExecutionArgs | readonly GraphQLError[]> {
    const { caller } = connection
    const payload = connection.brought.asked
    if (caller === null || payload === undefined) throw new Error('an operation without a caller')
    const refused = refusalOf(connection, caller, underWay)
    if (refused !== null) {
      this.#signals.operationRefused(String(refused.extensions['code']))
      return [refused]
    }
    const request = requestOf(payload)
    const exchange = exchangeOf(request)
    exchange.caller = caller
    exchange.transport = 'websocket'
    try {
      const query = this.#documentOf(payload)
      const engine = this.#engineFor(request, operationOf(payload, query))
      const { schema } = engine
      const document = engine.parse(query)
      const errors = engine.validate(schema, document)
      if (errors.length > 0) return this.#presented({ errors }, exchange).errors ?? []
      const args: ExecutionArgs = {
        schema,
        document: leanDocument(document, payload.operationName),
        operationName: payload.operationName ?? null,
        variableValues: payload.variables ?? null,
        contextValue: await engine.contextFactory(),
      }
      this.#prepared.set(args, { engine, exchange, connection })
      return args
    } catch (error) {
      return this.#presented({ errors: [asGraphQLError(error)] }, exchange).errors ?? []
    }
  }

  /** Executes a query or a mutation. */
  execute(args: ExecutionArgs): Promise<ExecutionResult> {
    const { engine, exchange, connection } = this.#operation(args)
    const executed = only(engine.execute(args)).then((result) => this.#presented(result, exchange))
    return connection
      .carryOut(executed)
      .finally(() => connection.outlet.afterwards(() => exchange.holding?.release()))
  }

  /** Begins a subscription. */
  async subscribe(args: ExecutionArgs): Promise<Executed> {
    const { engine, exchange, connection } = this.#operation(args)
    const executed = await engine.subscribe(args)
    if (!isAsyncIterable(executed)) return this.#presented(executed, exchange)
    this.#signals.operationEnded(exchange, null)
    return connection.stream(executed, exchange)
  }

  #operation(args: ExecutionArgs): Operation {
    const operation = this.#prepared.get(args)
    if (operation === undefined) throw new Error('an operation that was not prepared')
    return operation
  }

  #presented(result: ExecutionResult, exchange: Exchange): ExecutionResult {
    const presented = withoutInternals(presentResult(result, exchange, this.#signals.log))
    this.#signals.operationEnded(exchange, presented)
    return presented
  }
}

const only = async (executed: Promise<Executed> | Executed): Promise<ExecutionResult> => {
  const result = await executed
  if (isAsyncIterable(result)) throw new Error('an operation with one result had several')
  return result
}

const refusalOf = (connection: Connection, caller: Caller, underWay: number): GraphQLError | null => {
  if (connection.isClosing) return refused('SERVICE_UNAVAILABLE', 'The gateway is stopping.')
  if (caller.expiresAt !== undefined && caller.expiresAt <= Date.now())
    return refused('TOKEN_EXPIRED', 'The credentials have expired. Come back with new ones.')
  return underWay > MAX_OPERATIONS
    ? refused(
        'TOO_MANY_OPERATIONS',
        `More than ${MAX_OPERATIONS} operations are under way on this WebSocket.`,
      )
    : null
}

const refused = (code: ErrorCode, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code, retryable: true } })

/** The operation as a request. Who asks is known by then, and the headers that said so are not repeated in each. */
const requestOf = ({ extensions }: SubscribePayload): Request => {
  const own = new Headers()
  const traceparent = extensions?.['traceparent']
  if (typeof traceparent === 'string' && /^[\x20-\x7e]{1,128}$/.test(traceparent))
    own.set('traceparent', traceparent)
  return requestWith(own)
}

/** A request on a WebSocket. */
export const requestWith = (headers: Headers): Request =>
  new Request('http://websocket/graphql', { method: 'POST', headers })
