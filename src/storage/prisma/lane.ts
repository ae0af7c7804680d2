/**
 * Group commit. One commit of a workspace is under way at a time in a process; what arrives meanwhile waits, and the next round carries
 * all of it: one load, each transaction decided in turn against what the earlier ones staged, one guarded write. No database transaction
 * is open while anything is decided.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { needsOfAll } from '../../core/state.js'
import type { StorageObserver } from '../observer.js'
import {
  type Expected,
  type Scope,
  StorageUnavailable,
  type Transaction,
  type TurnPositions,
} from '../port.js'
import { Staging } from '../staging.js'
import { weigh } from '../weight.js'
import type { Dialect } from './dialect.js'
import { Reader } from './reader.js'
import { readEvents, readSnapshot, type Snapshot } from './reads.js'

/** A transaction that waits for its round. */
interface Unit {
  /** Does the work and returns how to tell the caller, once it is written. */
  readonly decide: (transaction: Transaction) => Promise<() => void>
  readonly reject: (error: unknown) => void
  readonly expected: Expected
  readonly deadline: number
  /** Whether the caller was told. */
  isSettled: boolean
}

/** What one round would write, and how its callers are told once it is written. */
interface Attempt {
  readonly base: Snapshot
  readonly token: string
  readonly staging: Staging
  /** How many transactions it carries. */
  readonly size: number
  readonly settle: () => void
}

export interface LaneOptions {
  /** The most transactions in one round. */
  readonly batch: number
  /** How long a transaction is tried again while the database is out of reach or others commit first, in milliseconds. */
  readonly patience: number
  readonly observer: StorageObserver
}

/** How much a round writes, in characters; the transaction that exceeds it is its last. */
const ROOM = 4 * 1024 * 1024

/** How many artifacts and proposals a round looks up, each of which may be a megabyte; those that would exceed it wait for the next. */
const MAX_LOOKED_UP = 128

export class Lane {
  readonly #dialect: Dialect
  readonly #scope: Scope
  readonly #options: LaneOptions
  readonly #onIdle: () => void
  readonly #queue: Unit[] = []
  /** The most units of the next round: twice those that the last one had room for, since all are loaded before that is known. */
  #most: number
  #draining: Promise<void> | null = null
  #expiry: NodeJS.Timeout | undefined

  constructor(dialect: Dialect, scope: Scope, options: LaneOptions, onIdle: () => void) {
    this.#dialect = dialect
    this.#scope = scope
    this.#options = options
    this.#most = options.batch
    this.#onIdle = onIdle
  }

  /** How many wait for their round. */
  get waiting(): number {
    return this.#queue.length
  }

  run<Result>(work: (transaction: Transaction) => Promise<Result>, expected: Expected): Promise<Result> {
    return new Promise((resolve, reject) => {
      const unit: Unit = {
        decide: async (transaction) => {
          const result = await work(transaction)
          return () => {
            unit.isSettled = true
            resolve(result)
          }
        },
        reject: (error) => {
          unit.isSettled = true
          reject(error)
        },
        expected,
        deadline: Date.now() + this.#options.patience,
        isSettled: false,
      }
      this.#queue.push(unit)
      this.#expiry ??= setTimeout(() => this.#expire(), this.#options.patience)
      this.#draining ??= this.#drain()
    })
  }

  /** Tells those whose time is up while they wait: however long the round before takes, nothing of theirs is written. */
  #expire(): void {
    const now = Date.now()
    const next = this.#queue.findIndex(({ deadline }) => deadline > now)
    const late = this.#queue.splice(0, next < 0 ? this.#queue.length : next)
    this.#giveUp(late)
    const [oldest] = this.#queue
    this.#expiry = oldest && setTimeout(() => this.#expire(), oldest.deadline - now)
  }

  #giveUp(late: readonly Unit[], cause?: unknown): void {
    rejectAll(late, new StorageUnavailable('the database is out of reach, or too busy', { cause }))
    for (const _ of late) this.#options.observer.onUnavailable()
  }

  /** Ends when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#draining !== null) await this.#draining
  }

  async #drain(): Promise<void> {
    // What comes in the same turn shares the first round.
    await Promise.resolve()
    while (this.#queue.length > 0) {
      const units = this.#queue.splice(0, this.#nextRound())
      await this.#carryOut(units, []).catch((error) => rejectAll(units, error))
      const left = units.filter(({ isSettled }) => !isSettled)
      this.#queue.unshift(...left)
      this.#most = left.length === 0 ? 2 * this.#most : 2 * (units.length - left.length)
      this.#most = Math.min(this.#options.batch, Math.max(1, this.#most))
    }
    clearTimeout(this.#expiry)
    this.#expiry = undefined
    this.#draining = null
    this.#onIdle()
  }

  /** How many of those that wait come next. */
  #nextRound(): number {
    const lookedUp = new Set<string>()
    const isFull = ({ expected: { artifacts, proposals } }: Unit): boolean => {
      for (const id of artifacts) lookedUp.add(`artifact ${id}`)
      for (const id of proposals) lookedUp.add(`proposal ${id}`)
      return lookedUp.size > MAX_LOOKED_UP
    }
    const candidates = this.#queue.slice(0, this.#most)
    const count = candidates.findIndex(isFull)
    return count < 0 ? candidates.length : Math.max(1, count)
  }

  /** Tries until a round is written, or its units are refused or out of time. Those that it had no room for stay unsettled. */
  async #carryOut(units: readonly Unit[], inDoubt: Attempt[]): Promise<void> {
    let cause: unknown
    for (let tries = 0; ; tries++) {
      const now = Date.now()
      const late = units.filter(({ deadline }) => deadline < now)
      this.#giveUp(late, cause)
      const waiting = units.filter(({ isSettled }) => !isSettled)
      if (waiting.length === 0) return
      try {
        const settle = await this.#attempt(waiting, inDoubt)
        if (settle !== null) return settle()
        this.#options.observer.onRetry('conflict')
      } catch (error) {
        const trouble = this.#dialect.trouble(error)
        if (trouble === 'fault') return this.#eachAlone(waiting, inDoubt, error)
        this.#options.observer.onRetry(trouble)
        cause = error
      }
      await pause(Math.random() * Math.min(100, 2 ** tries))
    }
  }

  /** After a fault, which may be one unit's: the others are not to suffer from it. */
  async #eachAlone(units: readonly Unit[], inDoubt: Attempt[], fault: unknown): Promise<void> {
    if (units.length === 1) return rejectAll(units, fault)
    for (const unit of units) await this.#carryOut([unit], inDoubt)
  }

  /** One round. Returns how to tell the callers, or `null` when another process committed first. */
  async #attempt(units: readonly Unit[], inDoubt: Attempt[]): Promise<(() => void) | null> {
    const begun = performance.now()
    const base = await readSnapshot(this.#dialect, this.#scope, union(units))
    const landed = await this.#landed(inDoubt, base)
    if (landed !== null) return landed.settle
    const attempt = await this.#decide(units, base)
    if (attempt === null || attempt.staging.isEmpty) return attempt?.settle ?? null
    inDoubt.push(attempt)
    const { token, staging, size } = attempt
    const applied = await this.#dialect.write({ scope: this.#scope, expected: base.token, token, staging })
    inDoubt.pop()
    if (!applied) return null
    this.#options.observer.onCommit({ transactions: size, seconds: (performance.now() - begun) / 1000 })
    return attempt.settle
  }

  /**
   * The attempt whose write ended in an error and was carried out nevertheless: it left its token, or its first event, behind. While the
   * base they were made on is still there, all of them are in doubt; once it is gone, none of the others can be carried out any more.
   */
  async #landed(inDoubt: Attempt[], now: Snapshot): Promise<Attempt | null> {
    const base = inDoubt[0]?.base
    if (base === undefined || base.token === now.token) return null
    const window = { after: base.head, limit: 1, from: 'start' } as const
    const { entries } = await readEvents(this.#dialect, this.#scope, {}, window)
    const [stored] = entries
    const landed = inDoubt.find(
      ({ token, staging: { events } }) =>
        token === now.token || (stored !== undefined && events[0]?.id === stored.id),
    )
    inDoubt.length = 0
    return landed ?? null
  }

  /**
   * Decides each unit in turn, as long as there is room. One that fails drops only what it staged itself. `null` when the workspace
   * changed meanwhile.
   */
  async #decide(units: readonly Unit[], base: Snapshot): Promise<Attempt | null> {
    const staging = new Staging(this.#scope, base.head)
    const reader = new Reader(this.#dialect, this.#scope, base)
    const settlements: (() => void)[] = []
    let size = 0
    for (const unit of units) {
      if (size > ROOM) break
      const own = staging.stack()
      const positions = async (threadId: string): Promise<TurnPositions> =>
        own.turnPositions(threadId) ?? (await reader.turnPositions(threadId))
      try {
        const settle = await unit.decide({
          load: async (needs) => own.view(await reader.load(needs), needs),
          save: async (writes) => {
            size += weigh(writes)
            return own.save(writes)
          },
          recall: async (key) => own.recall(key) ?? (await reader.recall(key)),
          remember: async (key, result) => own.remember(key, result),
          turnPositions: (threadId) => positions(threadId),
          advance: async (threadId, to) => own.advance(threadId, await positions(threadId), to),
          keepHistory: async (threadId, history) => {
            size += history.length
            own.histories.set(threadId, history)
          },
        })
        own.settle()
        settlements.push(settle)
      } catch (error) {
        settlements.push(() => unit.reject(error))
      }
      if (reader.failure !== null) throw reader.failure
      if (reader.isStale) return null
    }
    const settle = () => {
      for (const settlement of settlements) settlement()
    }
    return { base, token: randomUUID(), staging, size: settlements.length, settle }
  }
}

const union = (units: readonly Unit[]): Expected => ({
  ...needsOfAll(units.map(({ expected }) => expected)),
  commands: units.flatMap(({ expected }) => expected.commands ?? []),
  turns: [...new Set(units.flatMap(({ expected }) => expected.turns ?? []))],
})

const rejectAll = (units: readonly Unit[], error: unknown): void => {
  for (const { reject } of units) reject(error)
}
