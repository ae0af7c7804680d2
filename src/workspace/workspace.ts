/**
 * One workspace as one actor sees it: the only way to write, and the reads. The host loop of domain §4 is here, once:
 * needs → load → commit → save.
 */
import type { Actor } from '../core/actors.js'
import type { CommandInput } from '../core/commands.js'
import { commit, type Item, needs, record } from '../core/commit.js'
import type { Context, Definitions } from '../core/context.js'
import type { Envelope, Seq } from '../core/envelopes.js'
import type { EventOf } from '../core/events.js'
import type { FactInput } from '../core/facts.js'
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
import type { EventFilter, Lists, Scope, Storage, Transaction, Window } from '../storage/port.js'
import { newId } from './ids.js'

export type { EventFilter, Listed, Scope, Window } from '../storage/port.js'

/** What was done, and the events it appended: none when there was nothing to change. */
export interface Committed {
  readonly outcome: Outcome
  readonly envelopes: readonly Envelope[]
}

export interface CommitOptions {
  /** The W3C trace context the commit belongs to; kept on its envelopes. */
  readonly traceparent?: string | undefined
}

/** A posted message: its event, with its place in the log. */
export type Message = Envelope & { readonly event: EventOf<'message_posted'> }

export const isMessage = (envelope: Envelope): envelope is Message =>
  envelope.event.type === 'message_posted' && !('unknown' in envelope.event)

/** More rounds than any item takes; a storage that does not load what it is asked for ends there. */
const MAX_ROUNDS = 8

export class Workspace {
  readonly scope: Scope
  readonly actor: Actor
  readonly #storage: Storage
  readonly #definitions: Definitions

  constructor(storage: Storage, scope: Scope, actor: Actor, definitions: Definitions) {
    this.#storage = storage
    this.scope = scope
    this.actor = actor
    this.#definitions = definitions
  }

  /** The same workspace, acted in by another. */
  asActor(actor: Actor): Workspace {
    return new Workspace(this.#storage, this.scope, actor, this.#definitions)
  }

  /**
   * Carries out a command, or refuses it and changes nothing.
   *
   * @throws Rejection when it is refused; StorageUnavailable when it may be tried again; NotLoaded when the storage is at fault.
   */
  commit(command: CommandInput, options: CommitOptions = {}): Promise<Committed> {
    return this.#carryOut(command, (state, context) => commit(command, state, context), options)
  }

  /** Records a fact; otherwise as `commit`. */
  record(fact: FactInput, options: CommitOptions = {}): Promise<Committed> {
    return this.#carryOut(fact, (state, context) => record(fact, state, context), options)
  }

  /** What is known of these ids: an entity or `null`, and whether each message id is used (ADR-0045). */
  load(needs: Partial<Needs>): Promise<State> {
    return this.#storage.load(this.scope, { ...noNeeds, ...needs })
  }

  /** The `seq` of the last event; 0 when nothing was ever written. */
  head(): Promise<Seq> {
    return this.#storage.head(this.scope)
  }

  events(filter: EventFilter, window: Window): Promise<readonly Envelope[]> {
    return this.#storage.events(this.scope, filter, window)
  }

  /** A thread's messages, oldest first. */
  async messages(threadId: string, window: Window): Promise<readonly Message[]> {
    const envelopes = await this.events({ threadId, types: ['message_posted'] }, window)
    return envelopes.filter(isMessage)
  }

  /** The message at a position of the log, or `null` when there is none. */
  async messageAt(seq: Seq): Promise<Message | null> {
    const window: Window = { after: seq - 1, limit: 1, from: 'start' }
    const [envelope] = await this.events({}, window)
    return envelope !== undefined && envelope.seq === seq && isMessage(envelope) ? envelope : null
  }

  threads(window: Window): ReturnType<Lists['threads']> {
    return this.#storage.threads(this.scope, window)
  }

  artifacts(filter: Parameters<Lists['artifacts']>[1], window: Window): ReturnType<Lists['artifacts']> {
    return this.#storage.artifacts(this.scope, filter, window)
  }

  revisions(artifactId: string, window: Window): ReturnType<Lists['revisions']> {
    return this.#storage.revisions(this.scope, artifactId, window)
  }

  proposals(filter: Parameters<Lists['proposals']>[1], window: Window): ReturnType<Lists['proposals']> {
    return this.#storage.proposals(this.scope, filter, window)
  }

  runs(filter: Parameters<Lists['runs']>[1], window: Window): ReturnType<Lists['runs']> {
    return this.#storage.runs(this.scope, filter, window)
  }

  async #carryOut(
    item: Item,
    decide: (state: State, context: Context) => CommitResult,
    { traceparent }: CommitOptions,
  ): Promise<Committed> {
    const context: Context = {
      actor: this.actor,
      definitions: this.#definitions,
      traceId: traceparent?.split('-')[1],
    }
    const expected = needs(item, emptyState, context)
    const work = async (transaction: Transaction): Promise<Committed> => {
      const { outcome, events, ...entities } = decide(await load(transaction, item, context), context)
      const ts = new Date().toISOString()
      const drafts = events.map((draft) => ({
        ...draft,
        id: newId('evt'),
        ts,
        actor: this.actor,
        traceparent,
      }))
      return { outcome, envelopes: await transaction.save({ ...entities, events: drafts }) }
    }
    return this.#storage.transaction(this.scope, work, expected)
  }
}

/** Loads until nothing is missing, or until the storage gives nothing more: deciding then says what was not loaded. */
const load = async (transaction: Transaction, item: Item, context: Context): Promise<State> => {
  let state = emptyState
  for (let round = 0; round < MAX_ROUNDS; round++) {
    const missing = needs(item, state, context)
    if (isEmpty(missing)) break
    state = mergeStates(state, await transaction.load(missing))
  }
  return state
}
