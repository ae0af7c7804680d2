/** Requests, operations and subscribers, counted. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { errorCodes } from '../http/errors.js'
import type { HttpObserver } from '../http/observer.js'
import { GRAPHQL_PATH, PROBES } from '../http/paths.js'
import { SECONDS } from './buckets.js'
import { OperationNames } from './operationNames.js'

const METHODS: ReadonlySet<string> = new Set(['GET', 'HEAD', 'POST', 'OPTIONS', 'PUT', 'PATCH', 'DELETE'])
const PATHS: ReadonlySet<string> = new Set(['/', GRAPHQL_PATH, ...PROBES])

/** Those of the gateway, and those of the libraries that parse and validate. A code that an application made up is none of them. */
const CODES: ReadonlySet<string> = new Set([
  ...errorCodes,
  'FORBIDDEN',
  'GRAPHQL_PARSE_FAILED',
  'GRAPHQL_VALIDATION_FAILED',
  'OPERATION_RESOLUTION_FAILURE',
])

const oneOf = (known: ReadonlySet<string>, label: string): string => (known.has(label) ? label : 'other')

export const createHttpMetrics = (registry: Registry): HttpObserver => {
  const registers = [registry]
  const requests = new Counter({
    name: 'artifactr_http_requests_total',
    help: 'HTTP requests answered.',
    labelNames: ['method', 'path', 'status'],
    registers,
  })
  const requestSeconds = new Histogram({
    name: 'artifactr_http_request_duration_seconds',
    help: 'From an HTTP request to the head of its response.',
    labelNames: ['method', 'path'],
    buckets: SECONDS,
    registers,
  })
  const operations = new Counter({
    name: 'artifactr_operations_total',
    help: 'GraphQL operations over HTTP and WebSocket, by outcome: ok, or the code of their first error.',
    labelNames: ['type', 'name', 'outcome'],
    registers,
  })
  const operationSeconds = new Histogram({
    name: 'artifactr_operation_duration_seconds',
    help: 'From the arrival of a GraphQL operation to its result; of a subscription, to its beginning.',
    labelNames: ['type', 'name'],
    buckets: SECONDS,
    registers,
  })
  const subscribers = new Gauge({
    name: 'artifactr_subscribers',
    help: 'Subscriptions that are open.',
    labelNames: ['transport', 'field'],
    registers,
  })
  const ended = new Counter({
    name: 'artifactr_subscriptions_ended_total',
    help: 'Subscriptions that ended: completed, dropped by their reader, or given up because it was too slow.',
    labelNames: ['transport', 'field', 'ending'],
    registers,
  })
  const names = new OperationNames()
  return {
    onRequestAnswered: ({ method, path, status, seconds }) => {
      const labels = { method: oneOf(METHODS, method), path: oneOf(PATHS, path) }
      requests.inc({ ...labels, status })
      requestSeconds.observe(labels, seconds)
    },
    onOperationEnded: ({ type, name, mentions, code, seconds }) => {
      const labels = { type, name: type === 'none' ? 'none' : names.labelOf(name, mentions) }
      operations.inc({ ...labels, outcome: code === null ? 'ok' : oneOf(CODES, code) })
      operationSeconds.observe(labels, seconds)
    },
    onStreamBegan: ({ transport, field }) => subscribers.inc({ transport, field }),
    onStreamEnded: ({ transport, field }, ending) => {
      subscribers.dec({ transport, field })
      ended.inc({ transport, field, ending })
    },
    watchHeld: (held) => {
      new Gauge({
        name: 'artifactr_held_bytes',
        help: 'Bytes of requests that are held until they are answered, and of answers until they are taken.',
        registers,
        collect() {
          this.set(held())
        },
      })
    },
  }
}
