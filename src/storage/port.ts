/**
 * The storage port (domain §10): what a storage does for the layers above it, whatever it is made of. Every implementation passes the
 * contract suite, and callers cannot tell them apart.
 */
import type {
  Artifact,
  Proposal,
  ProposalStatus,
  Revision,
  Run,
  RunStatus,
  Thread,
} from '../core/entities.js'
import type { Envelope, Seq } from '../core/envelopes.js'
import type { EventType } from '../core/events.js'
import type { CommitResult, Needs, State } from '../core/state.js'
import type { Connections, StorageObserver } from './observer.js'

/** The unit of isolation, ordering and locking. Every query is within one. */
export interface Scope {
  readonly tenantId: string
  readonly workspaceId: string
}

/** An envelope before the storage gives it its place in the log. */
export type NewEnvelope = Omit<Envelope, 'seq' | 'workspaceId'>

/** A scope as a key; no two scopes share one. */
export const scopeKey = ({ tenantId, workspaceId }: Scope): string => JSON.stringify([tenantId, workspaceId])

/** A command's key as one text; no two keys share one. */
export const commandKey = ({ participant, commandId }: CommandKey): string =>
  JSON.stringify([participant, commandId])

/** What one decision saves, all or nothing. `messages` are the message ids to record as used (ADR-0045). */
export interface Writes extends Omit<CommitResult, 'outcome' | 'events'> {
  readonly events: readonly NewEnvelope[]
}

/** By what a command is known again: who gave it, and the id they gave it. */
export interface CommandKey {
  /** The participant key of the actor. */
  readonly participant: string
  readonly commandId: string
}

/**
 * How far the messages of a thread have asked for a turn, and how far turns have taken them (domain §11): positions in the log, which
 * only move forward. More asked than taken: a turn is owed.
 */
export interface TurnPositions {
  readonly asked: Seq
  readonly taken: Seq
}

/** A thread that is owed a turn, in whichever scope. */
export interface OwedThread {
  readonly scope: Scope
  readonly threadId: string
}

export interface LapsedLease {
  readonly scope: Scope
  readonly key: string
}

/** What a transaction will load first, so that a storage can load it for many at once. */
export interface Expected extends Needs {
  readonly commands?: readonly CommandKey[] | undefined
  /** Threads whose turn positions will be read or advanced. */
  readonly turns?: readonly string[] | undefined
}

/** A read-and-write of one scope. Its work is free of side effects: a storage may run it more than once. */
export interface Transaction {
  /** Everything asked for: an entity or `null`, and whether each message id is used. Sees what the transaction saved before. */
  load(needs: Needs): Promise<State>
  /** Stages writes, which apply atomically when the work ends without an error. Returns the envelopes with their `seq`. */
  save(writes: Writes): Promise<readonly Envelope[]>
  /** What was remembered of a command, or `null`. Looked up by key. */
  recall(key: CommandKey): Promise<string | null>
  /** Stages what to remember of a command, written with everything else of the transaction. */
  remember(key: CommandKey, result: string): Promise<void>
  /** A thread's positions; both 0 when nothing was ever asked. */
  turnPositions(threadId: string): Promise<TurnPositions>
  /** Moves a thread's positions forward; a position that lies behind is left where it is. */
  advance(threadId: string, positions: Partial<TurnPositions>): Promise<void>
  /** Stages what a thread's agent keeps of its conversation, in place of what it kept before. */
  keepHistory(threadId: string, history: Uint8Array): Promise<void>
}

/** A part of a list: positions strictly between `after` and `before`, at most `limit` of them, from the start or from the end. */
export interface Window {
  readonly after?: Seq | undefined
  readonly before?: Seq | undefined
  readonly limit: number
  readonly from: 'start' | 'end'
  /** Once the entries have this many bytes, as they are stored, no more is added. The first is in it, however large. */
  readonly bytes?: number | undefined
}

/** What a window shows, oldest first whichever end it was read from. */
export interface Page<Entry> {
  readonly entries: readonly Entry[]
  /** Whether anything else stands between its positions: it was full before. */
  readonly more: boolean
}

/** An entry of a list and where it stands in it: the `seq` of the event that created it, or a revision's version. */
export interface Listed<Entity> {
  readonly position: number
  readonly entity: Entity
}

export interface EventFilter {
  /** Only events of these types. */
  readonly types?: readonly EventType[] | undefined
  /** Only events of this thread. */
  readonly threadId?: string | undefined
  /** Only what reaches a follower of these threads: their events, and those of the whole workspace (domain §8). */
  readonly following?: readonly string[] | undefined
}

/** What a subscription has come to since its last stretch. */
export interface Stretch {
  /** What reaches the subscriber, oldest first. Empty when nothing in this stretch of the log does. */
  readonly envelopes: readonly Envelope[]
  /** Everything up to this position has been looked at: from here a subscription can be resumed. */
  readonly upTo: Seq
}

export interface SubscribeOptions {
  /** Only what reaches a follower of these threads, as in `EventFilter`. */
  readonly following?: readonly string[] | undefined
  /** Ends the subscription without an error, also while it waits. */
  readonly signal?: AbortSignal | undefined
}

/** Lists, each page in one look. */
export interface Lists {
  events(scope: Scope, filter: EventFilter, window: Window): Promise<Page<Envelope>>
  threads(scope: Scope, window: Window): Promise<Page<Listed<Thread>>>
  artifacts(
    scope: Scope,
    filter: { readonly kind?: string | undefined; readonly includeArchived: boolean },
    window: Window,
  ): Promise<Page<Listed<Artifact>>>
  revisions(scope: Scope, artifactId: string, window: Window): Promise<Page<Listed<Revision>>>
  proposals(
    scope: Scope,
    filter: { readonly status?: ProposalStatus | undefined },
    window: Window,
  ): Promise<Page<Listed<Proposal>>>
  runs(
    scope: Scope,
    filter: { readonly threadId?: string | undefined; readonly statuses?: readonly RunStatus[] | undefined },
    window: Window,
  ): Promise<Page<Listed<Run>>>
}

export interface Storage extends Lists {
  /**
   * Runs `work` serialised with every other transaction of the scope: what it loaded is still true when its writes apply. An error rolls
   * everything back and is thrown on. `expected` names what the work will load first, so that a storage can load it for many at once.
   *
   * @throws StorageUnavailable when the writes did not apply, or when it cannot be known whether they did; it may be tried again.
   */
  transaction<Result>(
    scope: Scope,
    work: (transaction: Transaction) => Promise<Result>,
    expected?: Expected,
  ): Promise<Result>
  /** As `Transaction.load`, outside a transaction. One snapshot. */
  load(scope: Scope, needs: Needs): Promise<State>
  /** The `seq` of the workspace's last event; 0 when nothing was ever written. */
  head(scope: Scope): Promise<Seq>
  /**
   * The log after a position, in stretches that follow each other without gap or repeat: first what is stored, then what is committed, by
   * whichever process, for as long as the subscriber goes on. Nothing is held for a subscriber that does not ask for more. A position that
   * the log has not come to is waited for. Where the storage is out of reach the subscription waits as well.
   *
   * @throws StorageUnavailable when the storage is closed, or when the log has become shorter: what was delivered is no longer there.
   */
  subscribe(scope: Scope, afterSeq: Seq, options?: SubscribeOptions): AsyncIterable<Stretch>
  /** Forgets what was remembered of commands longer ago than `age`, in milliseconds. Returns how many were forgotten. */
  forgetCommands(scope: Scope, age: number): Promise<number>
  /** What a thread's agent kept of its conversation last, or `null`. */
  history(scope: Scope, threadId: string): Promise<Uint8Array | null>
  /**
   * Threads that are owed a turn, at most `limit`. The one look across scopes: it serves recovery, and what it finds is carried out in its
   * own scope.
   */
  owedThreads(limit: number): Promise<readonly OwedThread[]>
  /** Leases that lapsed without being released, at most `limit`: what their holders did was not finished. Across scopes, for recovery. */
  lapsedLeases(limit: number): Promise<readonly LapsedLease[]>
  /** Takes or renews an exclusive lease for `ttl` milliseconds; another holder gets it only once it lapsed or was released. */
  acquireLease(scope: Scope, key: string, holder: string, ttl: number): Promise<boolean>
  /** Gives a lease back. By anyone but its holder it does nothing. */
  releaseLease(scope: Scope, key: string, holder: string): Promise<void>
  /** @throws StorageUnavailable when the storage does not answer. */
  ping(): Promise<void>
  /** Tells an observer of its work from now on; returns how to stop. A storage may have nothing to tell. */
  observe?(observer: StorageObserver): () => void
  /** Its pool of connections, if it has one. */
  connections?(): Connections | null
  close(): Promise<void>
}

/** The storage is out of reach or too busy. Nothing is known to have been written; trying again is safe, since ids are used once. */
export class StorageUnavailable extends Error {
  override readonly name = 'StorageUnavailable'
}
