/** Operations as HTTP requests, and requests that are not as they should be. */
import { OperationTypeNode } from 'graphql'
import type { Draws } from './draws.js'
import { type Operation, type OperationOptions, randomOperation } from './operations.js'
import { json, text, toJson } from './values.js'
import { actors, evaluator } from './world.js'

export interface HttpRequest {
  readonly method: string
  /** From the slash on. */
  readonly target: string
  readonly headers: Readonly<Record<string, string>>
  readonly body?: string | Uint8Array<ArrayBuffer> | undefined
  /** What is asked, where it is meant to be understood. */
  readonly operation?: Operation | undefined
}

const JSON_TYPE = { 'content-type': 'application/json' }

export const whoOf = (draws: Draws, tenantId: string): Record<string, string> => ({
  'x-tenant': tenantId,
  ...(draws.chance(0.04) ? evaluator : draws.oneOf(actors)),
})

const bodyOf = ({ query, operationName, variables }: Operation): string =>
  toJson({ query, ...(operationName !== undefined && { operationName }), variables })

const searchOf = ({ query, operationName, variables }: Operation): string | null => {
  if (!query.isWellFormed()) return null
  const params = {
    query,
    ...(operationName !== undefined && { operationName }),
    variables: toJson(variables),
  }
  return String(new URLSearchParams(params))
}

export const posted = (operation: Operation, headers: Record<string, string>): HttpRequest => ({
  method: 'POST',
  target: '/graphql',
  headers: { ...JSON_TYPE, ...headers },
  body: bodyOf(operation),
  operation,
})

const accepts = [
  '*/*',
  'application/graphql-response+json',
  'application/json',
  'application/*;q=0.3, image/png',
]

/** An operation that is meant to be carried out, or refused for what it says. */
export const validRequest = (options: OperationOptions): HttpRequest => {
  const { draws, scope } = options
  const kind = draws.oneOf([OperationTypeNode.QUERY, OperationTypeNode.MUTATION, OperationTypeNode.MUTATION])
  const operation = randomOperation(kind, options)
  const headers = {
    ...whoOf(draws, scope.tenantId),
    accept: draws.chance(0.7) ? 'application/graphql-response+json' : draws.oneOf(accepts),
    ...(draws.chance(0.05) && { traceparent: `00-${'ab'.repeat(16)}-${'12'.repeat(8)}-01` }),
  }
  const search = kind === OperationTypeNode.QUERY && draws.chance(0.15) ? searchOf(operation) : null
  if (search !== null && search.length < 8_000)
    return { method: 'GET', target: `/graphql?${search}`, headers, operation }
  return posted(operation, headers)
}

/** Something a client gets wrong, on purpose or not. */
export const invalidRequest = (options: OperationOptions): HttpRequest => {
  const { draws, scope } = options
  const operation = randomOperation(draws.oneOf(Object.values(OperationTypeNode)), options)
  const headers = { ...whoOf(draws, scope.tenantId), accept: draws.oneOf(accepts) }
  const sound = posted(operation, headers)
  const body = bodyOf(operation)
  const withBody = (changed: string | Uint8Array<ArrayBuffer>): HttpRequest => ({
    ...sound,
    body: changed,
    operation: undefined,
  })
  return draws.weighted<HttpRequest>(
    [5, () => posted({ ...operation, query: mutilated(draws, operation.query) }, headers)],
    [2, () => withBody(mutilated(draws, body))],
    [2, () => withBody(mutilatedBytes(draws, body))],
    [2, () => withBody(toJson(draws.of(json)))],
    [1, () => withBody(toJson([JSON.parse(bodyOf({ ...operation, variables: {} }))]))],
    [
      2,
      () =>
        withBody(
          toJson({
            ...operation,
            [draws.oneOf(['variables', 'query', 'operationName', 'extensions', 'id'])]: draws.of(json),
          }),
        ),
    ],
    [2, () => posted({ ...operation, variables: withoutOne(draws, operation.variables) }, headers)],
    [3, () => posted({ ...operation, variables: withOther(draws, operation.variables) }, headers)],
    [1, () => posted({ ...operation, operationName: draws.of(text) }, headers)],
    [
      1,
      () => ({
        ...sound,
        target: `/graphql?${searchOf(operation) ?? ''}`,
        method: 'GET',
        body: undefined,
        operation: undefined,
      }),
    ],
    [
      1,
      () => ({
        ...sound,
        target: `/graphql?query=${draws.oneOf(['%ff', '%', '{', '&query=', '{__typename}&variables=[]', '', '%00'])}`,
        method: 'GET',
        body: undefined,
        operation: undefined,
      }),
    ],
    [2, () => ({ ...sound, headers: { ...sound.headers, ...oddHeader(draws) }, operation: undefined })],
    [
      1,
      () => ({
        ...sound,
        target: draws.oneOf([
          '/',
          '/graphql/',
          '/graphql/x',
          '//graphql',
          '/health',
          '/ready',
          '/metrics',
          '/%ff',
          '/graphql?',
          '/__proto__',
        ]),
        operation: undefined,
      }),
    ],
    [
      1,
      () => ({
        ...sound,
        method: draws.oneOf(['PUT', 'DELETE', 'PATCH', 'OPTIONS', 'HEAD']),
        ...(draws.chance(0.5) && { body: undefined }),
        operation: undefined,
      }),
    ],
  )
}

const latin1 = (characters: string): string => Buffer.from(characters).toString('latin1')

const oddHeader = (draws: Draws): Record<string, string> => {
  const values = [
    '',
    ' ',
    'x'.repeat(300),
    latin1('\u00e9'),
    '\u00ff',
    latin1('\u{1f600}'),
    '__proto__',
    'null',
    '-1',
    '"',
    ',',
    ';;;=',
  ]
  const names = [
    'content-type',
    'accept',
    'x-tenant',
    'x-user',
    'x-user-name',
    'x-actor-kind',
    'x-actor-id',
    'x-request-id',
    'traceparent',
    'last-event-id',
    'content-encoding',
    'authorization',
    'origin',
    'accept-language',
    'if-none-match',
    'range',
    'x-http-method-override',
  ]
  const known: readonly Record<string, string>[] = [
    { 'content-type': 'text/plain' },
    { 'content-type': 'multipart/form-data; boundary=x' },
    { 'content-type': 'application/x-www-form-urlencoded' },
    { 'content-type': 'application/json; charset=utf-16' },
    { 'content-type': 'APPLICATION/JSON; charset="utf-8"' },
    { 'content-encoding': 'gzip' },
    { accept: 'image/png' },
    { accept: 'multipart/mixed' },
    { 'x-actor-kind': 'agent', 'x-actor-id': 'a' },
    { 'x-actor-kind': 'evaluator' },
    { expect: '200-ok' },
  ]
  return draws.chance(0.5) ? draws.oneOf(known) : { [draws.oneOf(names)]: draws.oneOf(values) }
}

const pieces = [
  '{',
  '}',
  '(',
  ')',
  '"',
  '"""',
  '\\',
  '\\u0000',
  '\\uD800',
  '$',
  '@',
  '...',
  '!',
  '#',
  '\u0000',
  '\ufeff',
  'null',
  'on',
  'fragment',
  'subscription',
  '__typename',
  '__schema { types { name } }',
  '@skip',
  '@defer',
  '-',
  '1e400',
  '__proto__',
  '[',
  ': ',
]

/** With a part of it removed, repeated, or replaced. */
export const mutilated = (draws: Draws, document: string): string => {
  let changed = document
  for (let changes = draws.between(1, 3); changes > 0; changes--) {
    const start = draws.between(0, changed.length)
    const end = Math.min(changed.length, start + draws.between(0, 12))
    const part = draws.weighted(
      [1, () => ''],
      [1, () => changed.slice(start, end).repeat(2)],
      [2, () => draws.oneOf(pieces)],
      [0.1, () => draws.oneOf(pieces).repeat(3_000)],
    )
    changed = changed.slice(0, start) + part + changed.slice(end)
  }
  return changed
}

const mutilatedBytes = (draws: Draws, body: string): Uint8Array<ArrayBuffer> => {
  const bytes = Uint8Array.from(Buffer.from(body))
  const odd = [0x80, 0xc0, 0xed, 0xff, 0x00]
  for (let changes = draws.between(1, 3); changes > 0; changes--)
    bytes[draws.between(0, bytes.length - 1)] = draws.oneOf(odd)
  return bytes
}

type Variables = Operation['variables']

const withoutOne = (draws: Draws, variables: Variables): Variables => {
  const names = Object.keys(variables)
  const gone = names.length === 0 ? '' : draws.oneOf(names)
  return Object.fromEntries(Object.entries(variables).filter(([name]) => name !== gone))
}

/** With another value somewhere: for a variable, or within one. */
const withOther = (draws: Draws, variables: Variables): Variables => {
  const names = Object.keys(variables)
  if (names.length === 0) return { [draws.of(text)]: draws.of(json) }
  return { ...variables, [draws.oneOf(names)]: changedWithin(draws, variables[draws.oneOf(names)]) }
}

const changedWithin = (draws: Draws, value: unknown): unknown => {
  if (typeof value !== 'object' || value === null || draws.chance(0.3)) return draws.of(json)
  const keys = Object.keys(value)
  const key = keys.length === 0 || draws.chance(0.2) ? draws.of(text) : draws.oneOf(keys)
  const inner: unknown = Object.entries(value).find(([name]) => name === key)?.[1]
  return Array.isArray(value) ? [...value, draws.of(json)] : { ...value, [key]: changedWithin(draws, inner) }
}
