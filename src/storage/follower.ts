/**
 * Follows one log for everyone in this process who subscribes to it. It keeps the newest envelopes; a subscriber is nothing but a position,
 * so that one who is slow holds no memory and nobody else back: who is further behind than what is kept reads pages of the storage, filtered
 * there, until it is among those who read along.
 */
import type { LimitFunction } from 'p-limit'
import type { Envelope, Seq } from '../core/envelopes.js'
import { reachesFollower } from '../core/follow.js'
import { Tail } from './followTail.js'
import {
  type EventFilter,
  type Page,
  type Scope,
  StorageUnavailable,
  type Stretch,
  type SubscribeOptions,
  type Window,
} from './port.js'

/** How a follower reads the log. */
export interface LogSource {
  head(scope: Scope): Promise<Seq>
  events(scope: Scope, filter: EventFilter, window: Window): Promise<Page<Envelope>>
}

export interface FollowerOptions {
  readonly source: LogSource
  /** How long, in milliseconds, until it looks for what nobody told it of; asked before each wait. `Infinity`: it is always told. */
  readonly pollInterval: () => number
  /** What all followers of a storage that page through it have to pass. */
  readonly replays: LimitFunction
  /** About how much it may hold of the log for those who read along, in characters; asked whenever there is more. */
  readonly room: () => number
  /** Told when it cannot go on; its subscribers are told by an error. */
  readonly onEnd: () => void
}

/** The most envelopes in one stretch of those who read along. */
const STRETCH = 100

/** How much is read at once: bounded whatever the size of the events. */
const PAGE = { limit: 256, bytes: 256 * 1024, from: 'start' } as const

/** The first and the longest wait after a failure, in milliseconds. */
const FIRST_BACKOFF = 50
const LONGEST_BACKOFF = 2_000

export class Follower {
  readonly #scope: Scope
  readonly #options: FollowerOptions
  readonly #tail = new Tail()
  readonly #waiting = new Set<() => void>()
  /** The last position it has seen; `null` before the first look. */
  #head: Seq | null = null
  /** Looks are numbered, so that one can wait for a look that began after it came. */
  #begun = 0
  #done = 0
  #isDue = false
  #isLooking = false
  #isPolling = false
  #failures = 0
  #timer: NodeJS.Timeout | undefined
  #end: { readonly error: unknown } | null = null

  constructor(scope: Scope, options: FollowerOptions) {
    this.#scope = scope
    this.#options = options
  }

  /** Looks for new events; however often it is told while it looks, it looks once more. */
  look(): void {
    if (this.#end !== null) return
    this.#isDue = true
    if (!this.#isLooking) void this.#lookWhileDue()
  }

  /** Ends every subscription with an error, or silently when nobody is subscribed any more. */
  end(error: unknown): void {
    if (this.#end !== null) return
    this.#end = { error }
    clearTimeout(this.#timer)
    this.#tail.restart(0)
    this.#options.onEnd()
    this.#wake()
  }

  async *read(afterSeq: Seq, options: SubscribeOptions): AsyncGenerator<Stretch, void> {
    const { signal } = options
    let position = afterSeq
    await this.#lookedAgain(signal)
    while (signal?.aborted !== true) {
      if (this.#end !== null) throw this.#end.error
      const head = this.#head ?? 0
      if (position < head) {
        const stretch = this.#along(position, options) ?? (await this.#replay(position, head, options))
        if (stretch === null) continue
        position = stretch.upTo
        yield stretch
      } else await this.#changed(signal)
    }
  }

  /** Waits until a look that began after now is done: what was committed before now is then known. */
  async #lookedAgain(signal: AbortSignal | undefined): Promise<void> {
    const wanted = this.#begun + 1
    this.look()
    while (this.#done < wanted && this.#end === null && signal?.aborted !== true) await this.#changed(signal)
  }

  #along(position: Seq, { following }: SubscribeOptions): Stretch | null {
    const envelopes = this.#tail.since(position, STRETCH)
    const upTo = envelopes?.at(-1)?.seq
    if (envelopes === null || upTo === undefined) return null
    if (following === undefined) return { envelopes, upTo }
    return { envelopes: envelopes.filter((envelope) => reachesFollower(envelope, following)), upTo }
  }

  /** A page of what is stored; `null` when there is none to be had now. */
  async #replay(position: Seq, head: Seq, { following, signal }: SubscribeOptions): Promise<Stretch | null> {
    const { source, replays } = this.#options
    const window: Window = { ...PAGE, after: position, before: head + 1 }
    for (let failures = 0; signal?.aborted !== true; failures++) {
      try {
        const page = await replays(async () =>
          signal?.aborted === true ? null : source.events(this.#scope, { following }, window),
        )
        if (page === null) break
        const { entries } = page
        return { envelopes: entries, upTo: entries.at(-1)?.seq ?? head }
      } catch (error) {
        if (!(error instanceof StorageUnavailable) || this.#end !== null) throw error
      }
      await pause(backoff(failures), signal)
    }
    return null
  }

  async #lookWhileDue(): Promise<void> {
    this.#isLooking = true
    clearTimeout(this.#timer)
    while (this.#isDue && this.#end === null) {
      this.#isDue = false
      const look = ++this.#begun
      try {
        await this.#advance()
        this.#done = look
        this.#failures = 0
        this.#wake()
      } catch (error) {
        if (!(error instanceof StorageUnavailable)) this.end(error)
        this.#failures++
        break
      }
    }
    this.#isLooking = false
    this.#isPolling = false
    if (this.#end === null) this.#lookLater()
  }

  #lookLater(): void {
    const delay = this.#failures > 0 ? backoff(this.#failures - 1) : this.#options.pollInterval()
    if (delay === Infinity) return
    const poll = () => {
      this.#isPolling = true
      this.look()
    }
    this.#timer = setTimeout(poll, delay * (0.75 + Math.random() / 2)).unref()
  }

  /** Takes in what was appended since it looked last. */
  async #advance(): Promise<void> {
    const { source, room } = this.#options
    if (this.#head === null) {
      this.#head = await source.head(this.#scope)
      this.#tail.restart(this.#head)
      return
    }
    for (;;) {
      const known = this.#head
      const { entries, more } = await source.events(this.#scope, {}, { ...PAGE, after: known })
      const last = entries.at(-1)
      if (last === undefined) return this.#nothingNew(known)
      this.#tail.push(entries, room())
      this.#head = last.seq
      this.#wake()
      if (!more) return
    }
  }

  async #nothingNew(known: Seq): Promise<void> {
    // Nobody has to be kept waiting for what is kept: after a while of silence, almost everyone has it.
    if (this.#isPolling) this.#tail.restart(known)
    if ((await this.#options.source.head(this.#scope)) < known)
      this.end(new StorageUnavailable('the log is shorter than it was: its data was reset'))
  }

  /** Resolves when something has changed, or the signal says so. */
  #changed(signal: AbortSignal | undefined): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted === true) return resolve()
      const wake = () => {
        this.#waiting.delete(wake)
        signal?.removeEventListener('abort', wake)
        resolve()
      }
      this.#waiting.add(wake)
      signal?.addEventListener('abort', wake)
    })
  }

  #wake(): void {
    for (const wake of [...this.#waiting]) wake()
  }
}

const backoff = (failures: number): number => Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** failures)

const pause = (delay: number, signal: AbortSignal | undefined): Promise<void> =>
  new Promise((resolve) => {
    const end = () => {
      clearTimeout(timer)
      signal?.removeEventListener('abort', end)
      resolve()
    }
    const timer = setTimeout(end, delay * (0.75 + Math.random() / 2))
    signal?.addEventListener('abort', end)
  })
