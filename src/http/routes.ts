/** What is answered beside GraphQL, by path. */
import { pathOf } from './exchange.js'
import { graphiqlResponse, wantsPage } from './graphiql.js'
import type { Health } from './health.js'
import { replyText } from './reply.js'

export const GRAPHQL_PATH = '/graphql'

export interface RoutesOptions {
  readonly health: Health
  readonly graphiql: boolean
}

/** The answer to a request, or `null` when it is GraphQL's to answer. */
export const answerRoute = async (
  request: Request,
  { health, graphiql }: RoutesOptions,
): Promise<Response | null> => {
  const path = pathOf(request)
  if (path === GRAPHQL_PATH) return graphiql && wantsPage(request) ? graphiqlResponse(request) : null
  if (path !== '/' && path !== '/health' && path !== '/ready')
    return replyText(404, 'Nothing here. GraphQL is at /graphql; /health and /ready say how the gateway is.')
  if (request.method !== 'GET' && request.method !== 'HEAD')
    return replyText(405, 'Only GET is answered here.', { allow: 'GET, HEAD' })
  switch (path) {
    case '/health':
      return health.live()
    case '/ready':
      return health.ready()
    case '/':
      return replyText(307, 'GraphQL is at /graphql.', { location: GRAPHQL_PATH })
  }
}
