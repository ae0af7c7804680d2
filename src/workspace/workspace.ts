/**
 * One workspace as one actor sees it: the only way to write, and the reads. The host loop of domain §4 is here, once:
 * needs → load → commit → save.
 */
import { type Actor, participantKey } from '../core/actors.js'
import { commit, type Item, needs, record } from '../core/commit.js'
import type { Context, Definitions } from '../core/context.js'
import type { Revision } from '../core/entities.js'
import type { Envelope, Seq } from '../core/envelopes.js'
import { type EventOf, workspaceScopedEvents } from '../core/events.js'
import type { FactInput } from '../core/facts.js'
import { type ChangeNote, changeNotes } from '../core/notes.js'
import { invalid } from '../core/rejections.js'
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
import { idProblem } from '../core/text.js'
import type { EventFilter, Lists, Scope, Storage, Transaction, Window } from '../storage/port.js'
import { type CommandRequest, newId, withIds } from './ids.js'
import { digestOf, parseResult, type StoredResult, type Sweeper, serializeResult } from './results.js'

export type { EventFilter, Listed, Scope, Window } from '../storage/port.js'

/** What was done, and the events it appended: none when there was nothing to change. */
export interface Committed {
  readonly outcome: Outcome
  readonly envelopes: readonly Envelope[]
}

export interface CommitOptions {
  /** The W3C trace context the commit belongs to; kept on its envelopes. */
  readonly traceparent?: string | undefined
  /** The caller's idempotency key for the command. One participant's ids are not another's. */
  readonly commandId?: string | undefined
}

/** What the workspaces of a storage share. */
export interface Host {
  readonly storage: Storage
  readonly definitions: Definitions
  readonly sweeper: Sweeper
}

/** A posted message: its event, with its place in the log. */
export type Message = Envelope & { readonly event: EventOf<'message_posted'> }

export const isMessage = (envelope: Envelope): envelope is Message =>
  envelope.event.type === 'message_posted' && !('unknown' in envelope.event)

/** More rounds than any item takes; a storage that does not load what it is asked for ends there. */
const MAX_ROUNDS = 8

/** How many changes are looked at for change notes; earlier ones are left out. */
const MAX_NOTED = 5_000

export class Workspace {
  readonly scope: Scope
  readonly actor: Actor
  readonly #host: Host

  constructor(host: Host, scope: Scope, actor: Actor) {
    this.#host = host
    this.scope = scope
    this.actor = actor
  }

  get #storage(): Storage {
    return this.#host.storage
  }

  /** The same workspace, acted in by another. */
  asActor(actor: Actor): Workspace {
    return new Workspace(this.#host, this.scope, actor)
  }

  /**
   * Carries out a command, or refuses it and changes nothing. A command that was accepted before with the same `commandId` gives its
   * first result again.
   *
   * @throws Rejection when it is refused; StorageUnavailable when it may be tried again; NotLoaded when the storage is at fault.
   */
  commit(request: CommandRequest, options: CommitOptions = {}): Promise<Committed> {
    const command = withIds(request)
    return this.#carryOut(request, command, (state, context) => commit(command, state, context), options)
  }

  /** Records a fact; otherwise as `commit`. */
  record(fact: FactInput, options: CommitOptions = {}): Promise<Committed> {
    return this.#carryOut(fact, fact, (state, context) => record(fact, state, context), options)
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

  /** What an artifact was at one version, or `null` when it never was at it. @throws ValidationFailed */
  async revision(artifactId: string, version: number): Promise<Revision | null> {
    if (version < 1) throw invalid(['version'], 'must be at least 1')
    const [listed] = await this.revisions(artifactId, { after: version - 1, limit: 1, from: 'start' })
    return listed?.position === version ? listed.entity : null
  }

  proposals(filter: Parameters<Lists['proposals']>[1], window: Window): ReturnType<Lists['proposals']> {
    return this.#storage.proposals(this.scope, filter, window)
  }

  runs(filter: Parameters<Lists['runs']>[1], window: Window): ReturnType<Lists['runs']> {
    return this.#storage.runs(this.scope, filter, window)
  }

  /** Notes for the actor on what others did since a position of the log, out of the last 5,000 changes (domain §9). */
  async changeNotes(afterSeq: Seq, focus?: readonly string[]): Promise<readonly ChangeNote[]> {
    const window: Window = { after: afterSeq, limit: MAX_NOTED, from: 'end' }
    const envelopes = await this.events({ types: workspaceScopedEvents }, window)
    return changeNotes(envelopes, { viewer: this.actor, focus })
  }

  async #carryOut(
    request: object,
    item: Item,
    decide: (state: State, context: Context) => CommitResult,
    { traceparent, commandId }: CommitOptions,
  ): Promise<Committed> {
    const context: Context = {
      actor: this.actor,
      definitions: this.#host.definitions,
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
    if (commandId === undefined) return this.#storage.transaction(this.scope, work, expected)
    return this.#once(commandId, digestOf(request), work, expected)
  }

  /** Does the work unless it was done before under this id. What it does and its being done are one transaction. */
  async #once(
    commandId: string,
    digest: string,
    work: (transaction: Transaction) => Promise<Committed>,
    expected: Needs,
  ): Promise<Committed> {
    const problem = idProblem(commandId)
    if (problem !== null) throw invalid(['commandId'], problem)
    const key = { participant: participantKey(this.actor), commandId }
    const unlessDone = async (transaction: Transaction): Promise<Committed | StoredResult> => {
      const stored = await transaction.recall(key)
      if (stored !== null) return parseResult(stored, digest)
      const committed = await work(transaction)
      const { outcome, envelopes } = committed
      const result = { outcome, first: envelopes[0]?.seq ?? 0, count: envelopes.length }
      await transaction.remember(key, serializeResult(digest, result))
      return committed
    }
    const done = await this.#storage.transaction(this.scope, unlessDone, { ...expected, commands: [key] })
    if ('envelopes' in done) {
      void this.#host.sweeper.stored(this.scope)
      return done
    }
    const { outcome, first, count } = done
    const window: Window = { after: first - 1, before: first + count, limit: count, from: 'start' }
    return { outcome, envelopes: await this.events({}, window) }
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
