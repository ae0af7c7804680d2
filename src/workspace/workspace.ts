/** One workspace as one actor sees it: the only way to write, and the reads. */
import { type Actor, participantKey } from '../core/actors.js'
import { type Item, needs } from '../core/commit.js'
import type { Context, Definitions } from '../core/context.js'
import type { Revision } from '../core/entities.js'
import type { Seq } from '../core/envelopes.js'
import { workspaceScopedEvents } from '../core/events.js'
import type { FactInput } from '../core/facts.js'
import type { JsonValue } from '../core/json.js'
import { type ChangeNote, changeNotes } from '../core/notes.js'
import { invalid } from '../core/rejections.js'
import { emptyState, type Needs, noNeeds, type State } from '../core/state.js'
import { idProblem } from '../core/text.js'
import { onlyAt } from '../storage/pages.js'
import type {
  CommandKey,
  EventFilter,
  Expected,
  Lists,
  Page,
  Scope,
  Storage,
  Transaction,
  Window,
} from '../storage/port.js'
import { traceIdOf } from '../tracing/span.js'
import { breathe } from './breathe.js'
import { type FollowRequest, follow, type LogFrame } from './follow.js'
import { type CommandRequest, withIds } from './ids.js'
import { isMessage, type Message } from './messages.js'
import { observed, type WorkspaceObserver } from './observed.js'
import { digestOf, parseResult, type StoredResult, type Sweeper, serializeResult } from './results.js'
import { Turns } from './turns.js'
import { type Committed, Within } from './within.js'

export type { EventFilter, Listed, Page, Scope, Window } from '../storage/port.js'
export { StorageUnavailable, scopeKey } from '../storage/port.js'
export { breathe } from './breathe.js'
export type { FollowRequest, LogFrame, LogReset, ReplayComplete } from './follow.js'
export type { CommandRequest } from './ids.js'
export { isMessage, type Message } from './messages.js'
export type { CarriedOut, CommitOutcome, WorkspaceObserver } from './observed.js'
export type { Committed, Within } from './within.js'

export interface CommitOptions {
  /** The W3C trace context the commit belongs to; kept on its envelopes. */
  readonly traceparent?: string | undefined
  /** The caller's idempotency key for the command. One participant's ids are not another's. */
  readonly commandId?: string | undefined
  /** What else belongs to the same transaction, once the item is accepted, and what is to be noted of it. It may run more than once. */
  readonly alongside?: ((within: Within, committed: Committed) => Promise<JsonValue | undefined>) | undefined
  /** Threads whose turn positions `alongside` reads or advances. */
  readonly turns?: readonly string[] | undefined
}

export interface TransactOptions {
  readonly traceparent?: string | undefined
  /** What the work will load first. */
  readonly expected?: Partial<Expected> | undefined
}

/** Looks whether something may still be written. @throws what it may not be written for. */
export type Guard = (within: Within) => Promise<void>

/** What the workspaces of a storage share. */
export interface Host {
  readonly storage: Storage
  readonly definitions: Definitions
  readonly sweeper: Sweeper
  readonly observer?: WorkspaceObserver | undefined
}

/** How many changes are looked at for change notes, and how many bytes of them; earlier ones are left out. */
const NOTED = { limit: 5_000, bytes: 4 * 1024 * 1024 } as const

export class Workspace {
  readonly scope: Scope
  readonly actor: Actor
  readonly #host: Host
  readonly #guard: Guard | undefined
  readonly #traceparent: string | undefined

  constructor(host: Host, scope: Scope, actor: Actor, guard?: Guard, traceparent?: string) {
    this.#host = host
    this.scope = scope
    this.actor = actor
    this.#guard = guard
    this.#traceparent = traceparent
  }

  get #storage(): Storage {
    return this.#host.storage
  }

  /** The turns of the workspace's threads, for a runner. */
  get turns(): Turns {
    return new Turns(this.#storage, this.scope)
  }

  /** The same workspace, acted in by another. */
  asActor(actor: Actor): Workspace {
    return new Workspace(this.#host, this.scope, actor, this.#guard, this.#traceparent)
  }

  /** The same workspace, where everything written is written only if `guard` does not throw, in the same transaction. */
  guarded(guard: Guard): Workspace {
    return new Workspace(this.#host, this.scope, this.actor, guard, this.#traceparent)
  }

  /** The same workspace, where what is written belongs to a trace (W3C trace context) unless it is said to belong to another. */
  traced(traceparent: string | undefined): Workspace {
    return new Workspace(this.#host, this.scope, this.actor, this.#guard, traceparent)
  }

  /**
   * Carries out a command, or refuses it and changes nothing. A command that was accepted before with the same `commandId` gives its
   * first result again.
   *
   * @throws Rejection when it is refused; StorageUnavailable when it may be tried again; NotLoaded when the storage is at fault.
   */
  async commit(request: CommandRequest, options: CommitOptions = {}): Promise<Committed> {
    const command = withIds(request)
    return this.#carryOut(request, command, (within) => within.commit(command), options)
  }

  /** Records a fact; otherwise as `commit`. */
  async record(fact: FactInput, options: CommitOptions = {}): Promise<Committed> {
    return this.#carryOut(fact, fact, (within) => within.record(fact), options)
  }

  /** Does any number of things in one transaction: all of them, or none. `work` may run more than once. */
  transact<Result>(
    work: (within: Within) => Promise<Result>,
    { traceparent = this.#traceparent, expected = {} }: TransactOptions = {},
  ): Promise<Result> {
    const context = this.#context(traceparent)
    return this.#storage.transaction(
      this.scope,
      async (transaction) => {
        await breathe()
        const within = new Within(transaction, context, traceparent)
        await this.#guard?.(within)
        return work(within)
      },
      { ...noNeeds, ...expected },
    )
  }

  /** What is known of these ids: an entity or `null`, and whether each message id is used (ADR-0045). */
  load(needs: Partial<Needs>): Promise<State> {
    return this.#storage.load(this.scope, { ...noNeeds, ...needs })
  }

  /** The `seq` of the last event; 0 when nothing was ever written. */
  head(): Promise<Seq> {
    return this.#storage.head(this.scope)
  }

  events(filter: EventFilter, window: Window): ReturnType<Lists['events']> {
    return this.#storage.events(this.scope, filter, window)
  }

  /** Follows the log from a position on, for as long as the reader goes on. @throws ValidationFailed, StorageUnavailable */
  follow(request: FollowRequest = {}): Promise<AsyncGenerator<LogFrame, void>> {
    return follow(this.#storage, this.scope, request)
  }

  /** A thread's messages, oldest first. */
  async messages(threadId: string, window: Window): Promise<Page<Message>> {
    const { entries, more } = await this.events({ threadId, types: ['message_posted'] }, window)
    return { entries: entries.filter(isMessage), more }
  }

  /** The message at a position of the log, or `null` when there is none. */
  async messageAt(seq: Seq): Promise<Message | null> {
    const { entries } = await this.events({}, onlyAt(seq))
    return entries.find(isMessage) ?? null
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
    const { entries } = await this.revisions(artifactId, onlyAt(version))
    return entries[0]?.entity ?? null
  }

  proposals(filter: Parameters<Lists['proposals']>[1], window: Window): ReturnType<Lists['proposals']> {
    return this.#storage.proposals(this.scope, filter, window)
  }

  runs(filter: Parameters<Lists['runs']>[1], window: Window): ReturnType<Lists['runs']> {
    return this.#storage.runs(this.scope, filter, window)
  }

  /** Notes for the actor on what others did since a position of the log, out of the last 5,000 changes, or 4 MiB of them (domain §9). */
  async changeNotes(afterSeq: Seq, focus?: readonly string[]): Promise<readonly ChangeNote[]> {
    const window: Window = { ...NOTED, after: afterSeq, from: 'end' }
    const { entries } = await this.events({ types: workspaceScopedEvents }, window)
    return changeNotes(entries, { viewer: this.actor, focus })
  }

  #carryOut(
    request: object,
    item: Item,
    step: (within: Within) => Promise<Committed>,
    { traceparent = this.#traceparent, ...options }: CommitOptions,
  ): Promise<Committed> {
    let prevented: unknown
    const guard = async (within: Within): Promise<void> => {
      await this.#guard?.(within).catch((error) => {
        prevented = error
        throw error
      })
    }
    const { type } = item
    const { observer } = this.#host
    const isGuards = (error: unknown) => error === prevented
    return observed({ type, scope: this.scope, traceparent, observer, isGuards }, (own) =>
      this.#decide(request, item, guard, step, { ...options, traceparent: own }),
    )
  }

  async #decide(
    request: object,
    item: Item,
    guard: Guard,
    step: (within: Within) => Promise<Committed>,
    { traceparent, commandId, alongside, turns }: CommitOptions,
  ): Promise<Committed> {
    await breathe()
    const context = this.#context(traceparent)
    const expected: Expected = { ...needs(item, emptyState, context), turns }
    const work = async (transaction: Transaction): Promise<Committed> => {
      await breathe()
      const within = new Within(transaction, context, traceparent)
      await guard(within)
      const committed = await step(within)
      const note = await alongside?.(within, committed)
      return note === undefined ? committed : { ...committed, note }
    }
    if (commandId === undefined) return this.#storage.transaction(this.scope, work, expected)
    const key = { participant: participantKey(this.actor), commandId: validCommandId(commandId) }
    return this.#once(key, digestOf(request), work, expected)
  }

  /** Does the work unless it was done before under this key. What it does and its being done are one transaction. */
  async #once(
    key: CommandKey,
    digest: string,
    work: (transaction: Transaction) => Promise<Committed>,
    expected: Expected,
  ): Promise<Committed> {
    const unlessDone = async (transaction: Transaction): Promise<Committed | StoredResult> => {
      const stored = await transaction.recall(key)
      if (stored !== null) return parseResult(stored, digest)
      const committed = await work(transaction)
      const { outcome, envelopes, note } = committed
      const result = { outcome, first: envelopes[0]?.seq ?? 0, count: envelopes.length, note }
      await transaction.remember(key, serializeResult(digest, result))
      return committed
    }
    const done = await this.#storage.transaction(this.scope, unlessDone, { ...expected, commands: [key] })
    if ('envelopes' in done) {
      void this.#host.sweeper.stored(this.scope)
      return done
    }
    const { outcome, first, count, note } = done
    const window: Window = { after: first - 1, before: first + count, limit: count, from: 'start' }
    const { entries: envelopes } = await this.events({}, window)
    return { outcome, envelopes, note, isRepeat: true }
  }

  #context(traceparent: string | undefined): Context {
    const { definitions } = this.#host
    return { actor: this.actor, definitions, traceId: traceIdOf(traceparent) }
  }
}

/** @throws ValidationFailed */
const validCommandId = (commandId: string): string => {
  const problem = idProblem(commandId)
  if (problem !== null) throw invalid(['commandId'], problem)
  return commandId
}
