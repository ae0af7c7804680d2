/** What followers hold of a log: its newest envelopes, shared by all who read along. */
import type { Envelope, Seq } from '../core/envelopes.js'
import { weigh } from './weight.js'

/** The most envelopes that are held for those who read along. */
const MAX_HELD = 1_000

/** The newest envelopes of a log. Who is further behind than they reach reads the storage. */
export class Tail {
  readonly #envelopes: Envelope[] = []
  readonly #weights: number[] = []
  #weight = 0
  #after: Seq = 0

  /** Holds nothing, up to a position. */
  restart(after: Seq): void {
    this.#envelopes.length = 0
    this.#weights.length = 0
    this.#weight = 0
    this.#after = after
  }

  /** Adds what follows, and lets go of the oldest, so that they have about `room` characters. */
  push(page: readonly Envelope[], room: number): void {
    for (const envelope of page) {
      const weight = weigh(envelope)
      this.#envelopes.push(envelope)
      this.#weights.push(weight)
      this.#weight += weight
    }
    let dropped = 0
    while (this.#envelopes.length - dropped > MAX_HELD || this.#weight > room) {
      this.#weight -= this.#weights[dropped] ?? 0
      dropped++
    }
    this.#weights.splice(0, dropped)
    this.#after = this.#envelopes.splice(0, dropped).at(-1)?.seq ?? this.#after
  }

  /** What follows a position, at most `limit` envelopes; `null` when it does not go back so far. */
  since(position: Seq, limit: number): readonly Envelope[] | null {
    if (position < this.#after) return null
    const start = this.#envelopes.findLastIndex(({ seq }) => seq <= position) + 1
    return this.#envelopes.slice(start, start + limit)
  }
}
