/** The host loop of domain §4, here and nowhere else: needs → load → commit → save, within one storage transaction. */
import type { Actor } from '../core/actors.js'
import { commit, type Item, needs, record } from '../core/commit.js'
import type { Context } from '../core/context.js'
import type { Envelope } from '../core/envelopes.js'
import type { FactInput } from '../core/facts.js'
import type { JsonValue } from '../core/json.js'
import {
  type CommitResult,
  emptyState,
  isEmpty,
  mergeStates,
  type Needs,
  noNeeds,
  type Outcome,
  type State,
} from '../core/state.js'
import type { Transaction, TurnPositions } from '../storage/port.js'
import { type CommandRequest, newId, withIds } from './ids.js'

/** What was done, and the events it appended: none when there was nothing to change. */
export interface Committed {
  readonly outcome: Outcome
  readonly envelopes: readonly Envelope[]
  /** What `alongside` said of it, the first time. */
  readonly note?: JsonValue | undefined
  /** Whether it was carried out before, and this is its first result again. */
  readonly isRepeat?: boolean
}

/** More rounds than any item takes; a storage that does not load what it is asked for ends there. */
const MAX_ROUNDS = 8

/**
 * What can be done within one transaction of a workspace: everything of it applies, or nothing. As a storage may run a transaction more
 * than once, nothing else may be done in it.
 */
export class Within {
  readonly #transaction: Transaction
  readonly #context: Context
  readonly #traceparent: string | undefined

  constructor(transaction: Transaction, context: Context, traceparent: string | undefined) {
    this.#transaction = transaction
    this.#context = context
    this.#traceparent = traceparent
  }

  /** The same transaction, acted in by another. */
  asActor(actor: Actor): Within {
    return new Within(this.#transaction, { ...this.#context, actor }, this.#traceparent)
  }

  /** @throws Rejection; NotLoaded when the storage is at fault. */
  commit(request: CommandRequest): Promise<Committed> {
    const command = withIds(request)
    return this.decide(command, (state) => commit(command, state, this.#context))
  }

  /** @throws Rejection; NotLoaded when the storage is at fault. */
  record(fact: FactInput): Promise<Committed> {
    return this.decide(fact, (state) => record(fact, state, this.#context))
  }

  async decide(item: Item, decision: (state: State) => CommitResult): Promise<Committed> {
    const { outcome, events, ...entities } = decision(await this.#loadFor(item))
    const { actor } = this.#context
    const ts = new Date().toISOString()
    const drafts = events.map((draft) => {
      return { ...draft, id: newId('evt'), ts, actor, traceparent: this.#traceparent }
    })
    return { outcome, envelopes: await this.#transaction.save({ ...entities, events: drafts }) }
  }

  load(wanted: Partial<Needs>): Promise<State> {
    return this.#transaction.load({ ...noNeeds, ...wanted })
  }

  turnPositions(threadId: string): Promise<TurnPositions> {
    return this.#transaction.turnPositions(threadId)
  }

  advance(threadId: string, positions: Partial<TurnPositions>): Promise<void> {
    return this.#transaction.advance(threadId, positions)
  }

  keepHistory(threadId: string, history: Uint8Array): Promise<void> {
    return this.#transaction.keepHistory(threadId, history)
  }

  /** Loads until nothing is missing, or until the storage gives nothing more: deciding then says what was not loaded. */
  async #loadFor(item: Item): Promise<State> {
    let state = emptyState
    for (let round = 0; round < MAX_ROUNDS; round++) {
      const missing = needs(item, state, this.#context)
      if (isEmpty(missing)) break
      state = mergeStates(state, await this.#transaction.load(missing))
    }
    return state
  }
}
