/** How much a response may hold: of a batch all results together, of a stream each frame. It is counted while it is made. */
import type { GraphQLError } from 'graphql'
import { refusal } from '../errors.js'

export const responseTooLarge = (limit: number): GraphQLError =>
  refusal(
    200,
    'RESPONSE_TOO_LARGE',
    `The response would hold more than ${limit} bytes. Ask for fewer entries, or for less of each; what a mutation did is done.`,
    { limit },
  )
