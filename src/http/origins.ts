/**
 * Which web pages may use the gateway: those of its own origin, and those of the origins it is told. A browser lets any page send some
 * requests anywhere, and open WebSockets, with whatever the browser knows and the place it has in the network; so what comes for another
 * page is refused (CSRF, cross-site WebSocket hijacking), and what comes for an allowed one is readable by it (CORS). Whoever is no
 * browser says nothing of pages, and is not disturbed.
 */
import type { CORSOptions, Plugin } from 'graphql-yoga'
import { refusal } from './errors.js'

export interface CorsOptions {
  /** Origins, such as `https://app.example.com`, whose pages may use the gateway besides its own; none unless given. `*` is every one. */
  readonly origins?: readonly string[] | undefined
  /** Whether browsers send cookies along, which cannot be with `*`; they do not unless told. */
  readonly credentials?: boolean | undefined
}

/** What a request says of where it comes from and where it went, in its headers. */
interface Provenance {
  readonly origin: string | null
  /** `Sec-Fetch-Site`. */
  readonly site: string | null
  readonly host: string
}

/** How long a browser may remember what it was told of an origin, in seconds. */
const MAX_AGE = 7200

const EXPOSED = ['x-request-id', 'x-graphql-cost', 'retry-after', 'www-authenticate']

/** Why a text is no origin, or `null` when it is one. */
export const originProblem = (origin: string): string | null => {
  if (origin === '*') return null
  const isExact = /^https?:/i.test(origin)
    ? !origin.includes('*') && URL.canParse(origin) && new URL(origin).origin === origin
    : /^[a-z][a-z0-9+.-]*:\/\/[^/?#@\s,*]+$/.test(origin)
  return isExact ? null : 'must be origins such as https://app.example.com, with nothing after host and port'
}

export class Origins {
  readonly #allowed: ReadonlySet<string>
  readonly #credentials: boolean

  /** @throws TypeError when an origin is none, or everyone is to have credentials. */
  constructor({ origins = [], credentials = false }: CorsOptions) {
    for (const origin of origins) {
      const problem = originProblem(origin)
      if (problem !== null) throw new TypeError(`cors.origins ${problem}`)
    }
    this.#allowed = new Set(origins)
    this.#credentials = credentials
    if (credentials && this.#allowed.has('*'))
      throw new TypeError('cors.origins must not be * with credentials')
  }

  /**
   * Whether a request comes for a page that may not use the gateway. `Sec-Fetch-Site` is the browser's own word on it, and stands wherever
   * the gateway is; without it, as on plain HTTP, the origin has to have the host that the request was sent to.
   */
  isForeign({ origin, site, host }: Provenance): boolean {
    if (this.#allows(origin)) return false
    if (site !== null) return site !== 'same-origin' && site !== 'none'
    return origin !== null && hostOf(origin) !== hostOf(`http://${host}`)
  }

  /** Answers preflights, says in every answer who may read it, and refuses operations that come for the pages of others. */
  get plugin(): Plugin {
    return {
      onRequestParse: ({ request: { headers, url } }) => {
        const origin = headers.get('origin')
        const site = headers.get('sec-fetch-site')
        const host = headers.get('host') ?? new URL(url).host
        if (this.isForeign({ origin, site, host })) throw refusal(403, 'FORBIDDEN_ORIGIN', FOREIGN)
      },
      onResponse: ({ response: { headers } }) => {
        if (this.#allowed.size > 0) headers.append('vary', 'origin')
      },
    }
  }

  /** What Yoga is told. */
  get cors(): false | ((request: Request) => CORSOptions) {
    if (this.#allowed.size === 0) return false
    return ({ headers }) => {
      const origin = headers.get('origin')
      if (origin === null || !this.#allows(origin)) return false
      return {
        origin: [origin],
        credentials: this.#credentials,
        methods: ['GET', 'POST'],
        exposedHeaders: EXPOSED,
        maxAge: MAX_AGE,
      }
    }
  }

  #allows(origin: string | null): boolean {
    return origin !== null && (this.#allowed.has(origin) || this.#allowed.has('*'))
  }
}

/** Told to whoever develops the page; the browser tells the page nothing. */
export const FOREIGN =
  'This came for a web page of another origin, which is not among those that may use the gateway (CORS_ORIGINS).'

/** Host and port; the port is left out where it is the usual one. */
const hostOf = (url: string): string | null =>
  URL.canParse(url) ? new URL(url).host.replace(/:(80|443)$/, '') : null
