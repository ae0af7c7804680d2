/** The followers of a storage: one for each log that somebody in this process subscribes to, gone with its last subscriber. */
import pLimit from 'p-limit'
import type { Seq } from '../core/envelopes.js'
import { Follower, type LogSource } from './follower.js'
import { type Scope, StorageUnavailable, type Stretch, type SubscribeOptions, scopeKey } from './port.js'

export type { LogSource } from './follower.js'

export interface FollowersOptions {
  /** How long, in milliseconds, until a follower looks for what nobody told it of. `Infinity`: it is always told. */
  readonly pollInterval: () => number
  /** Told when the first subscriber of a log comes. */
  readonly onFollow?: (() => void) | undefined
  /** Told when no log is followed any more. */
  readonly onRest?: (() => void) | undefined
}

/** How many subscribers page through the storage at a time, so that many who come back together leave room for everything else. */
const REPLAYS = 4

/** About how much is held of a log for those who read along, and of all logs together, in characters. */
const ROOM = 4 * 1024 * 1024
const ROOM_OF_ALL = 64 * 1024 * 1024

interface Followed {
  readonly follower: Follower
  subscribers: number
}

/** What a storage implements its `subscribe` with: it tells of what it knows was committed, and followers do the rest. */
export class Followers {
  readonly #source: LogSource
  readonly #options: FollowersOptions
  readonly #followed = new Map<string, Followed>()
  readonly #replays = pLimit(REPLAYS)
  #isClosed = false

  constructor(source: LogSource, options: FollowersOptions) {
    this.#source = source
    this.#options = options
  }

  /** How many logs are followed. */
  get size(): number {
    return this.#followed.size
  }

  /** As `Storage.subscribe`. Holds nothing before it is first asked for something. */
  async *subscribe(
    scope: Scope,
    afterSeq: Seq,
    options: SubscribeOptions = {},
  ): AsyncGenerator<Stretch, void> {
    const followed = this.#join(scope)
    try {
      yield* followed.follower.read(afterSeq, options)
    } finally {
      followed.subscribers--
      if (followed.subscribers === 0) followed.follower.end(null)
    }
  }

  /** Told that something may have been appended to a log. */
  wake(scope: Scope): void {
    this.#followed.get(scopeKey(scope))?.follower.look()
  }

  /** Told that something may have been appended to any log. */
  wakeAll(): void {
    for (const { follower } of this.#followed.values()) follower.look()
  }

  /** Ends every subscription. */
  close(): void {
    this.#isClosed = true
    for (const { follower } of [...this.#followed.values()]) follower.end(closed())
  }

  #join(scope: Scope): Followed {
    if (this.#isClosed) throw closed()
    const key = scopeKey(scope)
    const known = this.#followed.get(key)
    if (known !== undefined) {
      known.subscribers++
      return known
    }
    const follower = new Follower(scope, {
      source: this.#source,
      pollInterval: this.#options.pollInterval,
      replays: this.#replays,
      room: () => Math.min(ROOM, ROOM_OF_ALL / this.#followed.size),
      onEnd: () => {
        this.#followed.delete(key)
        if (this.#followed.size === 0) this.#options.onRest?.()
      },
    })
    const followed = { follower, subscribers: 1 }
    this.#followed.set(key, followed)
    this.#options.onFollow?.()
    return followed
  }
}

const closed = () => new StorageUnavailable('the storage is closed')
