/** What SSE and WebSocket have in common: how patient they are with readers, and what a reader is told that is too slow. */
import { type ExecutionResult, GraphQLError } from 'graphql'
import { type ErrorCode, retold } from '../errors.js'

/** All in milliseconds. */
export interface StreamOptions {
  /** How often an idle connection is used, so that nobody on the way takes it for dead; 12 seconds unless given. */
  readonly pingEvery?: number | undefined
  /** How long a reader may take nothing of what waits for it before its streams end with `SLOW_CONSUMER`; 10 seconds unless given. */
  readonly stallTimeout?: number | undefined
  /** How long the connection of such a reader is kept, for it to hear of it after all; 30 seconds unless given. */
  readonly lingering?: number | undefined
  /** How long a WebSocket may take to say who it is; 5 seconds unless given. */
  readonly initTimeout?: number | undefined
  /** How often `authorize` is asked again on a running stream; 30 seconds unless given. */
  readonly recheckEvery?: number | undefined
}

export type Patience = { readonly [Name in keyof StreamOptions]-?: number }

export const patienceOf = ({
  pingEvery = 12_000,
  stallTimeout = 10_000,
  lingering = 30_000,
  initTimeout = 5_000,
  recheckEvery = 30_000,
}: StreamOptions): Patience => ({ pingEvery, stallTimeout, lingering, initTimeout, recheckEvery })

/** How long a reader that takes nothing is waited for when the gateway stops, in milliseconds. */
export const FAREWELL = 1_000

const SLOW_CONSUMER = 'SLOW_CONSUMER' satisfies ErrorCode

/** A reader stopped reading. Nothing is missing up to what it was sent; from there it may come back. */
export const slowConsumer = (): GraphQLError =>
  new GraphQLError('What was sent was not taken for too long. Resume after the last position that came.', {
    extensions: { code: SLOW_CONSUMER, retryable: true },
  })

/** The result as it is sent: what is said to HTTP in an error's extensions is for HTTP alone. */
export const withoutInternals = (result: ExecutionResult): ExecutionResult =>
  result.errors === undefined ? result : { ...result, errors: result.errors.map(errorWithoutInternals) }

const errorWithoutInternals = (error: GraphQLError): GraphQLError => {
  const { http, ...extensions } = error.extensions
  if (http === undefined) return error
  return retold(error, error.message, extensions)
}
