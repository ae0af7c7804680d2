/**
 * What a client is told of errors. A client's mistakes are told as they are; a storage out of reach is told as something to try
 * again; everything else is a bug: told by the request's id alone, and logged in full with that id.
 *
 * An operation that was executed answers 200 whatever its errors, with the data there is, as GraphQL over HTTP says. One that was not
 * executed answers 4xx or 5xx.
 */
import { type ExecutionResult, GraphQLError, Kind } from 'graphql'
import type { Logger } from 'pino'
import { StorageUnavailable } from '../storage/port.js'
import { type Exchange, fieldsOf } from './exchange.js'
import { IdentityUnavailable } from './identity/auth.js'

export type Log = Pick<Logger, 'debug' | 'info' | 'warn' | 'error'>

/** Codes of errors that are the gateway's own. */
export const errorCodes = [
  'BAD_USER_INPUT',
  'UNAUTHENTICATED',
  'FORBIDDEN_ORIGIN',
  'NOT_ACCEPTABLE',
  'PAYLOAD_TOO_LARGE',
  'UNSUPPORTED_MEDIA_TYPE',
  'SERVICE_UNAVAILABLE',
  'SLOW_CONSUMER',
  'TOO_MANY_OPERATIONS',
  'TOKEN_EXPIRED',
  'INTERNAL_SERVER_ERROR',
  // A limit was met.
  'DOCUMENT_TOO_LONG',
  'DOCUMENT_TOO_DEEP',
  'TOO_MANY_ALIASES',
  'QUERY_TOO_COMPLEX',
  'BATCH_TOO_LARGE',
  'RESPONSE_TOO_LARGE',
  'TIMEOUT',
  'TOO_MANY_SUBSCRIPTIONS',
  'RATE_LIMITED',
  // The document is not one that is carried out here.
  'INTROSPECTION_DISABLED',
  'PERSISTED_QUERY_NOT_FOUND',
  'PERSISTED_QUERY_NOT_SUPPORTED',
  'TRUSTED_DOCUMENTS_ONLY',
] as const

export type ErrorCode = (typeof errorCodes)[number]

interface RefusalDetails {
  readonly retryable?: true
  /** In seconds. */
  readonly retryAfter?: number
  readonly cost?: number
  readonly limit?: number
  /** Of the response. */
  readonly headers?: Readonly<Record<string, string>>
}

/** An error that ends a request before its operation is executed, with the status and some headers of the response. */
export const refusal = (
  status: number,
  code: ErrorCode,
  message: string,
  { headers, ...details }: RefusalDetails = {},
): GraphQLError =>
  new GraphQLError(message, {
    extensions: { code, ...details, http: { status, ...(headers && { headers }) } },
  })

export const badRequest = (message: string): GraphQLError => refusal(400, 'BAD_USER_INPUT', message)

export const notAcceptable = (message: string): GraphQLError => refusal(406, 'NOT_ACCEPTABLE', message)

export const internalErrorMessage = (requestId: string): string =>
  `Something went wrong here. It is logged as request ${requestId}.`

/** The result as the client may see it. */
export const presentResult = <Result extends ExecutionResult>(
  result: Result,
  exchange: Exchange,
  log: Log,
): Result => {
  if (result.errors === undefined) return result
  const executed = 'data' in result
  return { ...result, errors: result.errors.map((error) => presentError(error, executed, exchange, log)) }
}

/**
 * The result of a request that was not executed, with its status whatever the media type of the answer. GraphQL over HTTP has 200 for
 * those who ask for `application/json` by name, since intermediaries may answer so too; all others get the status. A subscription that is
 * refused was not executed either: what refuses it knows nothing of HTTP, and its code tells the status.
 */
export const withStatus = <Result extends ExecutionResult>(result: Result): Result => {
  if (result.errors === undefined || 'data' in result) return result
  return { ...result, errors: result.errors.map(withOwnStatus) }
}

const withOwnStatus = (error: GraphQLError): GraphQLError => {
  const { http, ...extensions } = error.extensions
  const status = statuses[String(extensions['code'])] ?? 400
  return retold(error, error.message, { ...extensions, http: { status, ...http, spec: false } })
}

/** Of errors that come without a status. All others are 400. */
const statuses: Readonly<Record<string, number>> = { FORBIDDEN: 403, TOKEN_EXPIRED: 401 }

const presentError = (error: unknown, executed: boolean, exchange: Exchange, log: Log): GraphQLError => {
  const { requestId } = exchange
  const cause = causeOf(error)
  const unavailable = cause === undefined ? null : unavailability(cause)
  if (unavailable !== null) {
    log.warn({ ...fieldsOf(exchange), err: cause }, unavailable.logged)
    const extensions = { code: 'SERVICE_UNAVAILABLE' satisfies ErrorCode, retryable: true, requestId }
    return retold(error, unavailable.told, executed ? extensions : { ...extensions, http: SOON })
  }
  const mistake = clientMistake(error, executed)
  if (mistake !== null) return mistake
  log.error({ ...fieldsOf(exchange), path: pathIn(error), err: cause ?? error }, 'unforeseen error')
  const extensions = { code: 'INTERNAL_SERVER_ERROR' satisfies ErrorCode, requestId }
  const told = internalErrorMessage(requestId)
  return retold(error, told, executed ? extensions : { ...extensions, http: { status: 500 } })
}

/** A second is longer than most of what passes by itself. */
export const SOON = { status: 503, headers: { 'retry-after': '1' } }

/** What is said of something that is needed and out of reach, or `null` when that is not what was thrown. */
const unavailability = (cause: unknown): { readonly told: string; readonly logged: string } | null => {
  if (cause instanceof StorageUnavailable)
    return {
      told: 'The storage is out of reach or too busy. Trying again is safe.',
      logged: 'the storage is unavailable',
    }
  if (cause instanceof IdentityUnavailable)
    return {
      told: 'It cannot be found out now who asks. Trying again is safe.',
      logged: 'it cannot be found out who asks',
    }
  return null
}

/** What was thrown, when it was no GraphQL error. */
const causeOf = (error: unknown): unknown => {
  if (!(error instanceof GraphQLError)) return error
  return error.originalError === undefined ? undefined : causeOf(error.originalError)
}

/** The error to tell a client that it made a mistake, or `null` when it made none. A code says that an error was meant to be told. */
const clientMistake = (error: unknown, executed: boolean): GraphQLError | null => {
  if (!(error instanceof GraphQLError)) return null
  // Whatever a scalar throws at a value, the value is to blame.
  const { code, unexpected } = error.extensions
  if (!executed && code === undefined && error.nodes?.[0]?.kind === Kind.VARIABLE_DEFINITION)
    return retold(error, error.message, { code: 'BAD_USER_INPUT', http: { status: 400, spec: true } })
  if (unexpected === true) return null
  if (code === 'BAD_REQUEST')
    return retold(error, error.message, { ...error.extensions, code: 'BAD_USER_INPUT' })
  if (code !== undefined) return error
  return isAboutArgument(error) ? retold(error, error.message, { code: 'BAD_USER_INPUT' }) : null
}

/** GraphQL places an argument it cannot use at the argument, and a resolver's value it cannot serialise nowhere. */
const isAboutArgument = ({ originalError }: GraphQLError): boolean =>
  originalError instanceof GraphQLError && originalError.nodes !== undefined

const pathIn = (error: unknown): string | undefined =>
  error instanceof GraphQLError ? error.path?.join('.') : undefined

/** The same place in the document and the result, in other words. */
export const retold = (
  error: unknown,
  message: string,
  extensions: Record<string, unknown>,
): GraphQLError => {
  if (!(error instanceof GraphQLError)) return new GraphQLError(message, { extensions })
  const { nodes, source, positions, path } = error
  return new GraphQLError(message, {
    nodes: nodes ?? null,
    source: source ?? null,
    positions: positions ?? null,
    path: path ?? null,
    extensions,
  })
}

/** What was thrown, as an error of GraphQL. */
export const asGraphQLError = (error: unknown): GraphQLError => {
  if (error instanceof GraphQLError) return error
  const originalError = error instanceof Error ? error : new Error(String(error))
  return new GraphQLError(originalError.message, { originalError })
}
