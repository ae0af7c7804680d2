/** The paths there are. */

export const GRAPHQL_PATH = '/graphql'

/** What tells how the gateway is: asked often, by machines. */
export const PROBES: ReadonlySet<string> = new Set(['/health', '/ready', '/metrics'])
