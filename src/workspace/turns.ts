/** A thread's turns as a storage keeps them: who holds the thread, how far its messages are taken, what its agent keeps (domain §11). */
import type { Scope, Storage } from '../storage/port.js'

const PREFIX = 'thread:'

const leaseOf = (threadId: string): string => `${PREFIX}${threadId}`

/** The thread that a lease is for, or `null` when it is for something else. */
export const threadOfLease = (key: string): string | null =>
  key.startsWith(PREFIX) ? key.slice(PREFIX.length) : null

export class Turns {
  readonly #storage: Storage
  readonly #scope: Scope

  constructor(storage: Storage, scope: Scope) {
    this.#storage = storage
    this.#scope = scope
  }

  /** Takes or renews the exclusive hold on a thread for `ttl` milliseconds. */
  hold(threadId: string, holder: string, ttl: number): Promise<boolean> {
    return this.#storage.acquireLease(this.#scope, leaseOf(threadId), holder, ttl)
  }

  release(threadId: string, holder: string): Promise<void> {
    return this.#storage.releaseLease(this.#scope, leaseOf(threadId), holder)
  }

  /** What the thread's agent kept of its conversation last, or `null`. */
  history(threadId: string): Promise<Uint8Array | null> {
    return this.#storage.history(this.#scope, threadId)
  }
}
