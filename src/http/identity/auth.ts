/**
 * Who asks. `headerAuth` believes what headers say, of this machine alone: it is for trying things out. `insecureHeaderAuth` believes
 * everyone: it is for gateways that only a trusted proxy reaches.
 */
import type { Actor } from '../../core/actors.js'
import { idProblem, nameProblem } from '../../core/text.js'
import type { Caller } from '../../graphql/context.js'
import { hostIn, isLoopbackAddress, isLoopbackHost, type Peer } from './peer.js'

/** The caller's credentials are missing or wrong: HTTP 401. The message is shown to the caller. */
export class Unauthenticated extends Error {
  override readonly name = 'Unauthenticated'
  /** How to come back, for `WWW-Authenticate`, such as `Bearer`; no such header when left out. */
  readonly challenge: string | undefined

  constructor(message: string, { challenge }: { readonly challenge?: string | undefined } = {}) {
    super(message)
    this.challenge = challenge
  }
}

/** It cannot be found out now who asks, and the caller is not to blame: HTTP 503, and trying again is safe. Its cause is logged. */
export class IdentityUnavailable extends Error {
  override readonly name = 'IdentityUnavailable'
}

/**
 * Reads who asks out of a request's credentials; asked once for each request with an operation, and once for each WebSocket.
 *
 * @param peer Where the request comes from.
 * @throws Unauthenticated when they are missing or wrong; IdentityUnavailable when that cannot be found out now. Anything else it throws is
 * a bug, and masked.
 */
export type ResolveActor = (request: Request, peer: Peer) => Caller | Promise<Caller>

/**
 * As `insecureHeaderAuth`, for callers on this machine: those that come from a loopback address, by a loopback name, and through no proxy
 * that says so. A page that has its own name lead here (DNS rebinding) does not come by a loopback name.
 */
export const headerAuth: ResolveActor = (request, peer) => {
  const problem = strangeness(request, peer)
  if (problem !== null)
    throw new Unauthenticated(
      `${problem}: without AUTH_INSECURE=1 (insecureHeaderAuth), headers are believed from this machine only`,
    )
  return insecureHeaderAuth(request, peer)
}

/** `x-tenant`, `x-user` (both default to `dev`), `x-user-name`; or another actor by `x-actor-kind` and `x-actor-id`. */
export const insecureHeaderAuth: ResolveActor = ({ headers }) => ({
  tenantId: idIn(headers, 'x-tenant') ?? 'dev',
  actor: actorIn(headers),
})

/** What proxies add to a request that they pass on. */
const FORWARDED = /^(forwarded|via|x-forwarded(-.*)?|x-real-ip|x-client-ip|true-client-ip|cf-connecting-ip)$/

/** Why a request is not known to come from this machine; `null` when it is. */
const strangeness = ({ headers, url }: Request, { address }: Peer): string | null => {
  if (address === undefined) return 'the peer address is unknown'
  if (!isLoopbackAddress(address)) return 'this comes from another machine'
  const forwarded = [...headers.keys()].find((name) => FORWARDED.test(name))
  if (forwarded !== undefined) return `${forwarded} is set`
  const host = hostIn(headers.get('host') ?? new URL(url).host)
  return host !== null && isLoopbackHost(host) ? null : 'the host is no loopback name'
}

const actorIn = (headers: Headers): Actor => {
  const given = headers.get('x-actor-kind')
  const kind = given ?? 'user'
  const id = given === null ? null : idIn(headers, 'x-actor-id')
  switch (kind) {
    case 'user': {
      const name = textIn(headers, 'x-user-name')
      const user = { kind, id: id ?? idIn(headers, 'x-user') ?? 'dev' } as const
      return name === null ? user : { ...user, name }
    }
    case 'external_agent':
      return { kind, clientId: id ?? missing('x-actor-id', kind) }
    case 'system':
      return { kind, name: id ?? 'system' }
    case 'evaluator':
      return {
        kind,
        name: id ?? missing('x-actor-id', kind),
        version: idIn(headers, 'x-actor-version') ?? missing('x-actor-version', kind),
      }
    default:
      throw new Unauthenticated('x-actor-kind must be user, external_agent, system or evaluator')
  }
}

const missing = (header: string, kind: string): never => {
  throw new Unauthenticated(`${header} is required when x-actor-kind is ${kind}`)
}

const utf8 = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A header is read as UTF-8; Fetch and Node hand its bytes over as Latin-1. */
const decoded = (headers: Headers, header: string): string | null => {
  const value = headers.get(header)
  if (value === null) return null
  const bytes = Buffer.from(value, 'latin1')
  try {
    if (bytes.toString('latin1') === value) return utf8.decode(bytes)
  } catch {
    // Not UTF-8, as below.
  }
  throw new Unauthenticated(`${header} must be UTF-8`)
}

const idIn = (headers: Headers, header: string): string | null => checked(headers, header, idProblem)

const textIn = (headers: Headers, header: string): string | null => checked(headers, header, nameProblem)

const checked = (
  headers: Headers,
  header: string,
  problemWith: (value: string) => string | null,
): string | null => {
  const value = decoded(headers, header)
  const problem = value === null ? null : problemWith(value)
  if (problem !== null) throw new Unauthenticated(`${header} ${problem}`)
  return value
}
