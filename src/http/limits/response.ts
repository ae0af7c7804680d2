/**
 * How much a response may hold, and how much may be read for it: of a batch for all results together, of a stream for each frame. It is
 * counted while it is made.
 */
import type { GraphQLError } from 'graphql'
import { refusal } from '../errors.js'

export const responseTooLarge = (limit: number): GraphQLError =>
  refusal(
    200,
    'RESPONSE_TOO_LARGE',
    `The response would hold more than ${limit} bytes. Ask for fewer entries, or for less of each; what a mutation did is done.`,
    { limit },
  )

export const tooMuchRead = (limit: number): GraphQLError =>
  refusal(
    200,
    'RESPONSE_TOO_LARGE',
    `More than ${limit} bytes would be read for the response. Ask for fewer entries; what a mutation did is done.`,
    { limit },
  )
