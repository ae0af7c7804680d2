/** What is answered beside GraphQL, by path. */
import { pathOf } from './exchange.js'
import { graphiqlResponse, wantsPage } from './graphiql.js'
import type { Health } from './health.js'
import { GRAPHQL_PATH } from './paths.js'
import { reply, replyText } from './reply.js'

export interface ProbesOptions {
  readonly health: Health
  /** The metrics in Prometheus' text format; `null` where they are not served. */
  readonly metrics: (() => Promise<string>) | null
}

export interface RoutesOptions extends ProbesOptions {
  readonly graphiql: boolean
}

/** The answer to a request, or `null` when it is GraphQL's to answer. */
export const answerRoute = async (request: Request, routes: RoutesOptions): Promise<Response | null> => {
  const path = pathOf(request)
  if (path === GRAPHQL_PATH) return routes.graphiql && wantsPage(request) ? graphiqlResponse(request) : null
  if (path !== '/') return answerProbe(request, routes)
  return onlyRead(request) ?? replyText(307, 'GraphQL is at /graphql.', { location: GRAPHQL_PATH })
}

/** The answer to one who asks how the gateway is. */
export const answerProbe = async (
  request: Request,
  { health, metrics }: ProbesOptions,
): Promise<Response> => {
  switch (pathOf(request)) {
    case '/health':
      return onlyRead(request) ?? health.live()
    case '/ready':
      return onlyRead(request) ?? health.ready()
    case '/metrics':
      return metrics === null ? nothing() : (onlyRead(request) ?? metricsResponse(await metrics()))
    default:
      return nothing()
  }
}

const onlyRead = ({ method }: Request): Response | null =>
  method === 'GET' || method === 'HEAD'
    ? null
    : replyText(405, 'Only GET is answered here.', { allow: 'GET, HEAD' })

const nothing = (): Response =>
  replyText(404, 'Nothing here. GraphQL is at /graphql; /health and /ready say how the gateway is.')

const metricsResponse = (text: string): Response =>
  reply(200, text, {
    'content-type': 'text/plain; version=0.0.4; charset=utf-8',
    'cache-control': 'no-store',
  })
