/** What a storage tells of its work, to whoever counts it. It says how much and how long, and never of whom. */

/** A round of writing that applied: the transactions that were written at once. */
export interface Round {
  readonly transactions: number
  /** From its load to its end, in seconds. */
  readonly seconds: number
}

export interface StorageObserver {
  onCommit(round: Round): void
  /** A round is tried again: another process committed first, or the database did not answer. */
  onRetry(cause: 'conflict' | 'unavailable'): void
  /** A caller was told that the storage is out of reach or too busy. */
  onUnavailable(): void
}

/** The connections of a pool, now. */
export interface Connections {
  readonly total: number
  readonly idle: number
  /** Statements that wait for one. */
  readonly waiting: number
}

/** Whoever observes a storage. */
export class StorageObservers implements StorageObserver {
  readonly #observers = new Set<StorageObserver>()

  /** Returns how to stop. */
  add(observer: StorageObserver): () => void {
    this.#observers.add(observer)
    return () => void this.#observers.delete(observer)
  }

  onCommit(round: Round): void {
    for (const observer of this.#observers) observer.onCommit(round)
  }

  onRetry(cause: 'conflict' | 'unavailable'): void {
    for (const observer of this.#observers) observer.onRetry(cause)
  }

  onUnavailable(): void {
    for (const observer of this.#observers) observer.onUnavailable()
  }
}
