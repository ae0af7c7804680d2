/**
 * What is to be seen of requests from outside: their spans, a line of log each, and what observers are told. Of what they hold nothing is:
 * no document, no variables, no credentials.
 */
import { type DocumentNode, type ExecutionResult, getOperationAST, type OperationTypeNode } from 'graphql'
import type { GraphQLParams } from 'graphql-yoga'
import { startSpan } from '../tracing/span.js'
import type { Log } from './errors.js'
import {
  durationOf,
  type Exchange,
  exchangeOf,
  fieldsOf,
  MAX_LOGGED,
  type Operation,
  pathOf,
  traceparentOf,
} from './exchange.js'
import type { Ending, HttpObserver, OpenStream } from './observer.js'
import { onItsOwn, subscribedField, textsIn, textsOf } from './operation.js'
import { GRAPHQL_PATH, PROBES } from './paths.js'

/** The methods that HTTP knows: one that a client made up is no name for anything. */
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE', 'CONNECT'])

/** Errors that are no mistake of the client's. */
const FAULTS = new Set(['INTERNAL_SERVER_ERROR', 'SERVICE_UNAVAILABLE'])

/** A stream as it goes on. */
export interface StreamSignals {
  sent(result: ExecutionResult): void
  ended(ending: Ending): void
}

export class Signals {
  readonly log: Log
  readonly #observer: HttpObserver | undefined

  constructor(log: Log, observer: HttpObserver | undefined) {
    this.log = log
    this.#observer = observer
  }

  requestBegan(request: Request): void {
    if (pathOf(request) !== GRAPHQL_PATH) return
    const exchange = exchangeOf(request)
    const method = METHODS.has(request.method) ? request.method : '_OTHER'
    exchange.span = startSpan(`${method} ${GRAPHQL_PATH}`, {
      isServer: true,
      parent: exchange.traceparent,
      prefersActive: true,
      attributes: { 'http.request.method': method, 'http.route': GRAPHQL_PATH, 'url.path': GRAPHQL_PATH },
    })
  }

  requestAnswered(request: Request, { status }: Response): void {
    const exchange = exchangeOf(request)
    const { method } = request
    const path = pathOf(request)
    exchange.span?.set({ 'http.response.status_code': status })
    exchange.span?.end(status >= 500 ? String(status) : undefined)
    const durationMs = durationOf(exchange)
    this.#observer?.onRequestAnswered({ method, path, status, seconds: durationMs / 1000 })
    const level = PROBES.has(path) ? 'debug' : 'info'
    const { cost, batch } = exchange
    const asked = { ...fieldsOf(exchange), operations: batch?.size, cost }
    const what = { ...asked, method, path: path.slice(0, MAX_LOGGED), status, durationMs }
    this.log[level]({ ...what, codes: codesOf(exchange) }, 'request')
  }

  /** It is known what is asked. */
  operationBegan(exchange: Exchange, document: DocumentNode, params: GraphQLParams): void {
    const operation = getOperationAST(document, params.operationName)
    if (!operation || exchange.operation !== undefined) return
    const type: OperationTypeNode = operation.operation
    const name = operation.name?.value
    const span = startSpan(`graphql ${type}`, {
      isServer: exchange.transport === 'websocket',
      parent: traceparentOf(exchange),
      attributes: {
        'graphql.operation.type': type,
        ...(name === undefined ? {} : { 'graphql.operation.name': shown(name) }),
        'artifactr.request.id': exchange.requestId,
        'artifactr.tenant.id': exchange.caller?.tenantId,
      },
    })
    const field = type === 'subscription' ? subscribedField(document, operation) : undefined
    exchange.operation = { type, name, field, span, texts: () => textsIn(document, params.variables) }
  }

  /** @param result As the client sees it; `null` when a stream begins. */
  operationEnded(exchange: Exchange, result: ExecutionResult | null): void {
    if (exchange.isOver) return
    exchange.isOver = true
    exchange.isStream = result === null
    const { operation } = exchange
    this.#ended(exchange, operation, result, durationOf(exchange) / 1000)
    if (operation !== undefined && result === null) exchange.operation = whileItLasts(operation)
    if (exchange.transport === 'websocket' && result !== null) {
      const what = { ...fieldsOf(exchange), transport: 'websocket', durationMs: durationOf(exchange) }
      this.log.info({ ...what, codes: codesOf(exchange) }, 'operation')
    }
  }

  /** @param results As the client sees them, in the order in which they were asked for. */
  batchEnded(exchange: Exchange, results: readonly ExecutionResult[]): void {
    if (exchange.isOver) return
    exchange.isOver = true
    for (const [index, result] of results.entries()) {
      const { operation, seconds = 0 } = exchange.batch?.over[index] ?? {}
      this.#ended(exchange, operation, result, seconds)
    }
  }

  #ended(
    exchange: Exchange,
    operation: Exchange['operation'],
    result: ExecutionResult | null,
    seconds: number,
  ): void {
    const codes = codesIn(result)
    for (const code of codes) exchange.codes.add(code)
    const [code = null] = codes
    const { caller } = exchange
    operation?.span.set({ 'artifactr.operation.outcome': code ?? 'ok' })
    operation?.span.end(code !== null && FAULTS.has(code) ? code : undefined)
    this.#observer?.onOperationEnded({
      type: operation?.type ?? 'none',
      name: operation?.name,
      mentions: function* () {
        if (caller !== undefined) yield* textsOf([caller.tenantId, caller.actor])
        if (operation !== undefined) yield* operation.texts()
      },
      code,
      seconds,
    })
  }

  /** An operation was not even looked at. */
  operationRefused(code: string): void {
    this.#observer?.onOperationEnded({
      type: 'none',
      name: undefined,
      mentions: () => [],
      code,
      seconds: 0,
    })
  }

  streamBegan(exchange: Exchange, transport: OpenStream['transport']): StreamSignals {
    const field = exchange.isStream ? exchange.operation?.field : undefined
    const open = field === undefined ? null : { transport, field }
    if (open !== null) this.#observer?.onStreamBegan(open)
    const what = { ...fieldsOf(exchange), transport, field }
    this.log.info(what, 'stream began')
    let sent = 0
    const codes = new Set<string>()
    return {
      sent: (result) => {
        sent++
        for (const code of codesIn(result)) codes.add(code)
      },
      ended: (ending) => {
        if (open !== null) this.#observer?.onStreamEnded(open, ending)
        const durationMs = Math.round(durationOf(exchange))
        this.log.info({ ...what, ending, sent, durationMs, codes: listed(codes) }, 'stream ended')
      },
    }
  }
}

/** What is still to be known of an operation whose stream began. */
const whileItLasts = (operation: Operation): Operation => ({
  ...operation,
  name: operation.name && shown(operation.name),
  texts: () => [],
})

const shown = (name: string): string => onItsOwn(name.slice(0, MAX_LOGGED))

const codesIn = (result: ExecutionResult | null): string[] =>
  (result?.errors ?? []).map(({ extensions: { code } }) => (typeof code === 'string' ? code : 'UNKNOWN'))

const codesOf = ({ codes }: Exchange) => listed(codes)

const listed = (codes: ReadonlySet<string>): string[] | undefined =>
  codes.size === 0 ? undefined : [...codes]
