/**
 * Group commit. One commit of a workspace is under way at a time in a process; what arrives meanwhile waits, and the next round carries
 * all of it: one load, each transaction decided in turn against what the earlier ones staged, one guarded write. No database transaction
 * is open while anything is decided.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import {
  type EntityKind,
  isEmpty,
  mergeStates,
  missing,
  type Needs,
  noNeeds,
  type State,
} from '../../core/state.js'
import {
  type CommandKey,
  commandKey,
  type Expected,
  type Scope,
  StorageUnavailable,
  type Transaction,
} from '../port.js'
import { Staging } from '../staging.js'
import type { Dialect } from './dialect.js'
import { readEvents, readSnapshot, type Snapshot } from './reads.js'

/** A transaction that waits for its round. */
interface Unit {
  /** Does the work and returns how to tell the caller, once it is written. */
  readonly decide: (transaction: Transaction) => Promise<() => void>
  readonly reject: (error: unknown) => void
  readonly expected: Expected
  readonly deadline: number
}

/** What one round would write, and how its callers are told once it is written. */
interface Attempt {
  readonly base: Snapshot
  readonly token: string
  readonly staging: Staging
  readonly settle: () => void
}

export interface LaneOptions {
  /** The most transactions in one round. */
  readonly batch: number
  /** How long a transaction is tried again while the database is out of reach or others commit first, in milliseconds. */
  readonly patience: number
}

export class Lane {
  readonly #dialect: Dialect
  readonly #scope: Scope
  readonly #options: LaneOptions
  readonly #onIdle: () => void
  readonly #queue: Unit[] = []
  #draining: Promise<void> | null = null

  constructor(dialect: Dialect, scope: Scope, options: LaneOptions, onIdle: () => void) {
    this.#dialect = dialect
    this.#scope = scope
    this.#options = options
    this.#onIdle = onIdle
  }

  run<Result>(work: (transaction: Transaction) => Promise<Result>, expected: Expected): Promise<Result> {
    return new Promise((resolve, reject) => {
      const decide = async (transaction: Transaction) => {
        const result = await work(transaction)
        return () => resolve(result)
      }
      this.#queue.push({ decide, reject, expected, deadline: Date.now() + this.#options.patience })
      this.#draining ??= this.#drain()
    })
  }

  /** Ends when nothing waits any more. */
  async idle(): Promise<void> {
    while (this.#draining !== null) await this.#draining
  }

  async #drain(): Promise<void> {
    while (this.#queue.length > 0) {
      const units = this.#queue.splice(0, this.#options.batch)
      await this.#carryOut(units).catch((error) => rejectAll(units, error))
    }
    this.#draining = null
    this.#onIdle()
  }

  /** Tries until the units are written, or refused, or out of time. */
  async #carryOut(units: readonly Unit[]): Promise<void> {
    const deadline = Math.max(...units.map((unit) => unit.deadline))
    const inDoubt: Attempt[] = []
    for (let tries = 0; ; tries++) {
      const settle = await this.#attempt(units, inDoubt).catch((error) =>
        this.#afterTrouble(error, units, deadline),
      )
      if (settle !== null) return settle()
      if (Date.now() > deadline) {
        return rejectAll(units, new StorageUnavailable('the workspace is too busy: other commits came first'))
      }
      await pause(Math.random() * Math.min(100, 2 ** tries))
    }
  }

  /** One round. Returns how to tell the callers, or `null` when another process committed first. */
  async #attempt(units: readonly Unit[], inDoubt: Attempt[]): Promise<(() => void) | null> {
    const base = await readSnapshot(this.#dialect, this.#scope, union(units))
    for (const earlier of inDoubt) if (await this.#landed(earlier, base)) return earlier.settle
    const attempt = await this.#decide(units, base)
    if (attempt === null || attempt.staging.isEmpty) return attempt?.settle ?? null
    inDoubt.push(attempt)
    const { token, staging } = attempt
    const applied = await this.#dialect.write({ scope: this.#scope, expected: base.token, token, staging })
    inDoubt.pop()
    return applied ? attempt.settle : null
  }

  /** Whether a write that ended in an error was carried out nevertheless: it left its token, or its first event, behind. */
  async #landed({ base, token, staging }: Attempt, now: Snapshot): Promise<boolean> {
    if (now.token === token) return true
    const [first] = staging.events
    if (first === undefined || now.head <= base.head) return false
    const [stored] = await readEvents(
      this.#dialect,
      this.#scope,
      {},
      { after: base.head, limit: 1, from: 'start' },
    )
    return stored?.id === first.id
  }

  /** Decides each unit in turn. One that fails drops only what it staged itself. `null` when the workspace changed meanwhile. */
  async #decide(units: readonly Unit[], base: Snapshot): Promise<Attempt | null> {
    const staging = new Staging(this.#scope, base.head)
    const reader = new Reader(this.#dialect, this.#scope, base)
    const settlements: (() => void)[] = []
    for (const unit of units) {
      const own = staging.stack()
      try {
        const settle = await unit.decide({
          load: async (needs) => own.view(await reader.load(needs), needs),
          save: async (writes) => own.save(writes),
          recall: async (key) => own.recall(key) ?? (await reader.recall(key)),
          remember: async (key, result) => own.remember(key, result),
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
    return { base, token: randomUUID(), staging, settle }
  }

  /** What an error of the database leads to: another try, each unit on its own, or the end. */
  async #afterTrouble(
    error: unknown,
    units: readonly Unit[],
    deadline: number,
  ): Promise<(() => void) | null> {
    switch (this.#dialect.trouble(error)) {
      case 'conflict':
        return null
      case 'unavailable':
        if (Date.now() <= deadline) return null
        throw new StorageUnavailable('the database is out of reach or too busy', { cause: error })
      case 'fault':
        if (units.length === 1) throw error
        for (const unit of units) await this.#carryOut([unit]).catch(unit.reject)
        return () => undefined
    }
  }
}

/** Loads for one round what `expected` did not name, as long as the workspace is what it was. */
class Reader {
  isStale = false
  failure: Error | null = null
  readonly #dialect: Dialect
  readonly #scope: Scope
  readonly #token: string | null
  #state: State
  /** By `commandKey`; `null` for what was looked up and is not there. */
  readonly #commands: Map<string, string | null>

  constructor(dialect: Dialect, scope: Scope, { token, state, commands }: Snapshot) {
    this.#dialect = dialect
    this.#scope = scope
    this.#token = token
    this.#state = state
    this.#commands = new Map(commands)
  }

  async load(needs: Needs): Promise<State> {
    const wanted = missing(needs, this.#state)
    if (isEmpty(wanted)) return this.#state
    const { state } = await this.#read(wanted)
    this.#state = mergeStates(this.#state, state)
    return this.#state
  }

  async recall(key: CommandKey): Promise<string | null> {
    const known = this.#commands.get(commandKey(key))
    if (known !== undefined) return known
    const { commands } = await this.#read({ ...noNeeds, commands: [key] })
    for (const [key, result] of commands) this.#commands.set(key, result)
    return commands.get(commandKey(key)) ?? null
  }

  async #read(wanted: Expected): Promise<Snapshot> {
    const snapshot = await readSnapshot(this.#dialect, this.#scope, wanted).catch((error) => {
      this.failure = error
      throw error
    })
    this.isStale = snapshot.token !== this.#token
    if (this.isStale) throw new Error('the workspace changed; this round starts over')
    return snapshot
  }
}

const union = (units: readonly Unit[]): Expected => {
  const all = (kind: EntityKind) => [...new Set(units.flatMap(({ expected }) => expected[kind]))]
  return {
    artifacts: all('artifacts'),
    proposals: all('proposals'),
    threads: all('threads'),
    runs: all('runs'),
    messages: all('messages'),
    commands: units.flatMap(({ expected }) => expected.commands ?? []),
  }
}

const rejectAll = (units: readonly Unit[], error: unknown): void => {
  for (const { reject } of units) reject(error)
}
