/**
 * The public keys of an issuer, as its JWKS endpoint has them. They are kept, and fetched anew when they are old, or when a token names one
 * that is not among them (rotation): at most once in a while, whatever tokens are made up. While the endpoint is out of reach the known ones
 * go on to count, but not for ever, since one that was withdrawn is among them still.
 */
import { createRemoteJWKSet, errors, type JWTVerifyGetKey, type RemoteJWKSet } from 'jose'
import { IdentityUnavailable } from './auth.js'

/** All in milliseconds. */
export interface KeySetOptions {
  /** How old the keys may be before they are fetched anew; 10 minutes unless given. */
  readonly maxAge?: number | undefined
  /** How long they go on to count beyond that while the endpoint is out of reach; an hour unless given. */
  readonly maxStale?: number | undefined
  /** How often they are fetched at most; every 30 seconds unless given. */
  readonly cooldown?: number | undefined
  /** How long the endpoint may take to answer; 5 seconds unless given. */
  readonly timeout?: number | undefined
}

/** How often keys are fetched at most while there are none at all, in milliseconds. */
const FIRST_COOLDOWN = 1_000

export class KeySet {
  readonly #remote: RemoteJWKSet
  readonly #maxAge: number
  readonly #maxStale: number
  readonly #cooldown: number
  /** On the clock of `performance.now()`, as the next one. */
  #fetchedAt = Number.NEGATIVE_INFINITY
  #triedAt = Number.NEGATIVE_INFINITY
  /** What the last attempt failed with. */
  #failure: { readonly cause: unknown } | null = null
  #fetching: Promise<void> | null = null

  constructor(
    url: URL,
    { maxAge = 600_000, maxStale = 3_600_000, cooldown = 30_000, timeout = 5_000 }: KeySetOptions = {},
  ) {
    this.#maxAge = maxAge
    this.#maxStale = maxStale
    this.#cooldown = cooldown
    // When it fetches is decided here: its own rule has no rest for an endpoint that fails, and forgets its keys then.
    this.#remote = createRemoteJWKSet(url, {
      timeoutDuration: timeout,
      cooldownDuration: Number.POSITIVE_INFINITY,
      cacheMaxAge: Number.POSITIVE_INFINITY,
    })
  }

  /**
   * The key that a token names.
   *
   * @throws IdentityUnavailable when it is not known and the endpoint gives no keys; JOSEError when it has no such key.
   */
  readonly key: JWTVerifyGetKey = async (header, token) => {
    if (this.#age > this.#maxAge) await this.#fetch()
    if (this.#age > this.#maxAge + this.#maxStale) throw this.#unavailable()
    try {
      return await this.#remote(header, token)
    } catch (error) {
      if (!(error instanceof errors.JWKSNoMatchingKey)) throw error
      await this.#fetch()
      if (this.#failure !== null) throw this.#unavailable()
      return this.#remote(header, token)
    }
  }

  get #age(): number {
    return performance.now() - this.#fetchedAt
  }

  #unavailable(): IdentityUnavailable {
    return new IdentityUnavailable('the keys that tokens are verified with are out of reach', {
      cause: this.#failure?.cause,
    })
  }

  /** Fetches the keys, unless they have just been fetched, or were not there. Who asks meanwhile waits for them too. */
  async #fetch(): Promise<void> {
    const isEmpty = this.#fetchedAt === Number.NEGATIVE_INFINITY
    const cooldown = isEmpty ? Math.min(this.#cooldown, FIRST_COOLDOWN) : this.#cooldown
    if (this.#fetching === null && performance.now() - this.#triedAt < cooldown) return
    this.#fetching ??= this.#attempt()
    await this.#fetching
  }

  async #attempt(): Promise<void> {
    try {
      await this.#remote.reload()
      this.#fetchedAt = performance.now()
      this.#failure = null
    } catch (cause) {
      this.#failure = { cause }
    } finally {
      this.#triedAt = performance.now()
      this.#fetching = null
    }
  }
}
