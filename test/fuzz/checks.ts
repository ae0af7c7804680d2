/** What must be so of every answer, whatever was asked. */
import { type DocumentNode, type GraphQLSchema, parse, validate } from 'graphql'
import { conformityProblems, type Visit } from './conform.js'
import type { Operation } from './operations.js'
import { toJson } from './values.js'

/** Every code an error may have, and the statuses of an answer with it alone, beside 200 for what was executed. */
const expectedCodes: Readonly<Record<string, readonly number[]>> = {
  BAD_USER_INPUT: [400, 404, 405],
  GRAPHQL_PARSE_FAILED: [400],
  GRAPHQL_VALIDATION_FAILED: [400],
  OPERATION_RESOLUTION_FAILURE: [400],
  PAYLOAD_TOO_LARGE: [413],
  UNSUPPORTED_MEDIA_TYPE: [415],
  NOT_ACCEPTABLE: [406],
  UNAUTHENTICATED: [401],
  FORBIDDEN: [403],
  SLOW_CONSUMER: [],
  TOO_MANY_OPERATIONS: [],
  TOKEN_EXPIRED: [401],
  // What limits answer with: none of it is a fault.
  DOCUMENT_TOO_LONG: [400, 413],
  DOCUMENT_TOO_DEEP: [400],
  QUERY_TOO_COMPLEX: [400],
  TOO_MANY_ALIASES: [400],
  BATCH_TOO_LARGE: [400, 413],
  RATE_LIMITED: [429],
  TOO_MANY_SUBSCRIPTIONS: [429],
  TIMEOUT: [408, 503, 504],
  INTROSPECTION_DISABLED: [400, 403],
  FORBIDDEN_ORIGIN: [403],
  PERSISTED_QUERY_NOT_FOUND: [400, 404],
  PERSISTED_QUERY_NOT_SUPPORTED: [400],
  TRUSTED_DOCUMENTS_ONLY: [400, 403],
  SERVICE_UNAVAILABLE: [503],
}

/** Codes that only a database that is out of reach may have. */
const unexpectedHere = new Set(['SERVICE_UNAVAILABLE', 'TIMEOUT', 'SLOW_CONSUMER'])

interface Failure {
  readonly message: string
  readonly code: string
  readonly path: readonly (string | number)[]
}

const REQUEST_ID = /[0-9a-f-]{36}/g

export interface Result {
  readonly data?: unknown
  readonly failures: readonly Failure[]
}

/** What is wrong with the form of a result, and the result. */
export const readResult = (value: unknown): { readonly result: Result; readonly problems: string[] } => {
  const problems: string[] = []
  if (typeof value !== 'object' || value === null || Array.isArray(value))
    return { result: { failures: [] }, problems: ['the answer is no object'] }
  const { data, errors, extensions, ...rest } = Object.fromEntries(Object.entries(value))
  if (Object.keys(rest).length > 0) problems.push(`the answer has ${Object.keys(rest)}`)
  if (data === undefined && errors === undefined) problems.push('the answer has neither data nor errors')
  if (errors !== undefined && !(Array.isArray(errors) && errors.length > 0))
    problems.push('errors are no list')
  const failures = (Array.isArray(errors) ? errors : []).map((error): Failure => {
    const { message, extensions: details, path = [] } = error
    const code = details?.code
    if (typeof message !== 'string' || !Array.isArray(path)) problems.push(`is no error: ${toJson(error)}`)
    if (expectedCodes[code] === undefined || unexpectedHere.has(code))
      problems.push(`an error has the code ${code}: ${String(message).replaceAll(REQUEST_ID, '<request>')}`)
    if (toJson(error).includes('node_modules')) problems.push('an error shows the inside')
    return { message, code, path }
  })
  return { result: { data, failures }, problems }
}

export interface ToCheck {
  readonly schema: GraphQLSchema
  readonly operation: Operation
  readonly visit: Visit
}

/** A document may have too many tokens from this length on, in UTF-16 units. */
const LONG = 10_000

/** What is wrong with a result of an operation. */
export const resultProblems = (
  { schema, operation, visit }: ToCheck,
  { data, failures }: Result,
): string[] => {
  const document = parsed(operation.query)
  const codes = failures.map(({ code }) => code)
  if (document === null) return data === undefined ? [] : ['what cannot be parsed has data']
  if (data === undefined) {
    const isValid = () => validate(schema, document).length === 0
    return (codes.includes('GRAPHQL_PARSE_FAILED') && operation.query.length < LONG) ||
      (codes.includes('GRAPHQL_VALIDATION_FAILED') && isValid())
      ? [`a valid document was refused: ${failures.map(({ message }) => message)}`]
      : []
  }
  const asked = { schema, document, operationName: operation.operationName, variables: operation.variables }
  const paths = failures.map(({ path }) => path)
  // What leads to a path of an error may have become null up to where null is allowed.
  return conformityProblems(asked, data, paths, visit)
}

const parsed = (query: string): DocumentNode | null => {
  try {
    return parse(query)
  } catch {
    return null
  }
}

export interface HttpAnswer {
  readonly status: number
  readonly contentType: string
  readonly text: string
}

/** What is wrong with an answer as one of GraphQL over HTTP. */
export const answerProblems = ({ status, contentType }: HttpAnswer, { data, failures }: Result): string[] => {
  const problems: string[] = []
  if (status >= 500) problems.push(`the status is ${status}`)
  if (data !== undefined && status !== 200) problems.push(`what was executed has the status ${status}`)
  const allowed = [
    ...failures.flatMap(({ code }) => expectedCodes[code] ?? []),
    ...(data !== undefined || contentType.startsWith('application/json') ? [200] : []),
  ]
  if (!allowed.includes(status))
    problems.push(`the status is ${status} with the codes ${failures.map(({ code }) => code)}`)
  if (!/^application\/(graphql-response\+)?json/.test(contentType)) problems.push(`it is ${contentType}`)
  return problems
}
