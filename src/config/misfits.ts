/** How the variables fit together. Looked at as they are given, whatever is wrong with each. */
import { isLoopbackHost } from '../http/identity/peer.js'
import { type Environment, isHttpUrl, variables } from './variables.js'

export const misfits = (given: Environment): string[] => [
  ...authProblems(given),
  ...metricsProblems(given),
  ...documentsProblems(given),
]

const documentsProblems = ({ TRUSTED_DOCUMENTS, TRUSTED_DOCUMENTS_ONLY }: Environment): string[] =>
  TRUSTED_DOCUMENTS_ONLY !== undefined && TRUSTED_DOCUMENTS === undefined
    ? ['TRUSTED_DOCUMENTS_ONLY needs TRUSTED_DOCUMENTS: without it, every document is carried out']
    : []

const authProblems = (given: Environment): string[] => {
  const { AUTH = 'headers' } = given
  if (AUTH === 'jwt') return jwtProblems(given)
  return AUTH === 'headers' ? headersProblems(given) : []
}

const jwtProblems = ({
  JWT_SECRET: secret,
  JWT_JWKS_URL: jwksUrl,
  JWT_ISSUER: issuer,
  JWT_AUDIENCE: audience,
  AUTH_INSECURE,
}: Environment): string[] => {
  const problems: string[] = []
  if ((secret === undefined) === (jwksUrl === undefined))
    problems.push('AUTH=jwt takes JWT_SECRET or JWT_JWKS_URL, one of them')
  if (jwksUrl !== undefined && (issuer === undefined || audience === undefined))
    problems.push(
      'JWT_ISSUER and JWT_AUDIENCE are required with JWT_JWKS_URL: its keys sign tokens for others as well',
    )
  if (jwksUrl !== undefined && isHttpUrl(jwksUrl) && AUTH_INSECURE !== '1' && isTapped(new URL(jwksUrl)))
    problems.push(
      'JWT_JWKS_URL must be https://…, since who can answer in its place can be anyone; or set AUTH_INSECURE=1 if the ' +
        'network between is trusted',
    )
  return problems
}

/** Whether others may be on the way. */
const isTapped = ({ protocol, hostname }: URL): boolean =>
  protocol !== 'https:' && !isLoopbackHost(hostname.replaceAll(/[[\]]/g, ''))

/** Anyone who reaches a gateway that trusts headers can be anyone, and so can whatever web page they look at. */
const headersProblems = (given: Environment): string[] => {
  const { HOST = '127.0.0.1', CORS_ORIGINS = '', AUTH_INSECURE } = given
  const problems: string[] = []
  if (!isLoopbackHost(HOST) && AUTH_INSECURE !== '1')
    problems.push(
      'HOST is reachable from other machines while AUTH=headers lets every caller say who it is: use a loopback ' +
        'address such as 127.0.0.1, or set AUTH_INSECURE=1 if only trusted callers reach it',
    )
  if (CORS_ORIGINS.split(',').some((origin) => origin.trim() === '*'))
    problems.push('CORS_ORIGINS must not be * while AUTH=headers lets every caller say who it is')
  const unused = Object.keys(given).filter((name) => name.startsWith('JWT_') && name in variables.shape)
  if (unused.length > 0) problems.push(`AUTH must be jwt for ${unused.join(', ')} to mean anything`)
  return problems
}

const metricsProblems = ({ METRICS, METRICS_PORT, METRICS_HOST }: Environment): string[] => {
  if (METRICS_PORT !== undefined && variables.shape.METRICS.safeParse(METRICS).data === false)
    return ['METRICS_PORT must not be set while METRICS is off: nothing would be served there']
  return METRICS_HOST !== undefined && METRICS_PORT === undefined
    ? ['METRICS_HOST needs METRICS_PORT: without one, metrics are served where everything else is']
    : []
}
