/**
 * How many mutations an actor may carry out: a token bucket for each, which holds `mutationBurst` tokens and gains `mutationRate` a second.
 * Tokens are counted in thousandths, so that a millisecond's gain is a whole number where the rate is one, and nothing is ever rounded.
 */
import type { GraphQLError } from 'graphql'
import { participantKey } from '../../core/actors.js'
import type { Caller } from '../../graphql/context.js'
import { refusal } from '../errors.js'
import type { Limits } from './limits.js'

const PARTS = 1000

/** What is missing from a full bucket, and when that was so. */
interface Bucket {
  readonly missing: number
  readonly at: number
}

export class Mutations {
  readonly #rate: number
  readonly #burst: number
  readonly #now: () => number
  /** In the order of their last use. A full bucket is as good as none. */
  readonly #buckets = new Map<string, Bucket>()

  /** @param now The time in whole milliseconds, on a clock that never goes back. */
  constructor(
    { mutationRate, mutationBurst }: Pick<Limits, 'mutationRate' | 'mutationBurst'>,
    now: () => number = () => Math.floor(performance.now()),
  ) {
    this.#rate = mutationRate
    this.#burst = mutationBurst
    this.#now = now
  }

  /** How many buckets there are. */
  get size(): number {
    return this.#buckets.size
  }

  /** Takes so many tokens of a caller's, all or none. Returns why not, or `null`. */
  take({ tenantId, actor }: Pick<Caller, 'tenantId' | 'actor'>, count: number): GraphQLError | null {
    if (this.#rate === 0 || count === 0) return null
    const now = this.#now()
    this.#dropFull(now)
    const key = JSON.stringify([tenantId, participantKey(actor)])
    const missing = this.#missing(this.#buckets.get(key), now) + count * PARTS
    const lacking = missing - this.#burst * PARTS
    if (lacking > 0) return this.#refusal(count, Math.ceil(lacking / this.#rate))
    this.#buckets.delete(key)
    this.#buckets.set(key, { missing, at: now })
    return null
  }

  #missing(bucket: Bucket | undefined, now: number): number {
    return bucket === undefined ? 0 : Math.max(0, bucket.missing - (now - bucket.at) * this.#rate)
  }

  /** Two at a time, more than can have come since: what is left was used within the time a bucket takes to fill. */
  #dropFull(now: number): void {
    let looked = 0
    for (const [key, bucket] of this.#buckets) {
      if (looked++ === 2 || this.#missing(bucket, now) > 0) return
      this.#buckets.delete(key)
    }
  }

  #refusal(count: number, milliseconds: number): GraphQLError {
    if (count > this.#burst) {
      const message = `At most ${this.#burst} mutations are carried out at once: ask in several requests.`
      return refusal(400, 'QUERY_TOO_COMPLEX', message)
    }
    const retryAfter = milliseconds / 1000
    return refusal(
      429,
      'RATE_LIMITED',
      `Too many mutations. Try again in ${retryAfter} s: nothing was done.`,
      {
        retryable: true,
        retryAfter,
        headers: { 'retry-after': String(Math.ceil(retryAfter)) },
      },
    )
  }
}
