/**
 * A storage that lives as long as its process: for trying things out, and the reference the databases are compared with. It keeps what
 * a database keeps, as the same text, so that it cannot answer differently.
 */
import type { Artifact, Proposal, Revision, Run, Thread } from '../core/entities.js'
import { type Envelope, readEnvelope, type Seq } from '../core/envelopes.js'
import { type EnvelopeHeader, reachesFollower } from '../core/follow.js'
import type { Needs, State } from '../core/state.js'
import { parseRevision } from './codec.js'
import { Followers } from './follow.js'
import { MemoryData, type WorkspaceData } from './memoryData.js'
import { type StorageObserver, StorageObservers } from './observer.js'
import { mapPage, pageOf } from './pages.js'
import {
  commandKey,
  type EventFilter,
  type LapsedLease,
  type Listed,
  type OwedThread,
  type Page,
  type Scope,
  type Storage,
  StorageUnavailable,
  type Stretch,
  type SubscribeOptions,
  type Transaction,
  type TurnPositions,
  type Window,
} from './port.js'
import { type Entities, type ListedKind, Staging } from './staging.js'
import { reportingOnce, type Unreadable } from './unreadable.js'

export { MemoryData } from './memoryData.js'

export interface MemoryOptions {
  /** Told once of each stored event that is broken. */
  readonly onUnreadable?: ((problem: Unreadable) => void) | undefined
}

export class MemoryStorage implements Storage {
  readonly #data: MemoryData
  readonly #followers = new Followers(this, { pollInterval: () => Infinity })
  readonly #wake = (scope: Scope) => this.#followers.wake(scope)
  readonly #unreadable: (problem: Unreadable) => void
  readonly #observers = new StorageObservers()
  readonly #underWay = new Set<Promise<unknown>>()
  #closed = false

  constructor(data: MemoryData = new MemoryData(), { onUnreadable = () => undefined }: MemoryOptions = {}) {
    this.#data = data
    this.#unreadable = reportingOnce(onUnreadable)
    data.listeners.add(this.#wake)
  }

  async transaction<Result>(
    scope: Scope,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const workspace = this.#workspace(scope)
    const run = async (): Promise<Result> => {
      const begun = performance.now()
      const staging = new Staging(scope, workspace.head)
      const positions = (threadId: string): TurnPositions =>
        staging.turnPositions(threadId) ?? workspace.turns.get(threadId) ?? { asked: 0, taken: 0 }
      const result = await work({
        load: async (needs) => staging.view(workspace.state(needs), needs),
        save: async (writes) => staging.save(writes),
        recall: async (key) => staging.recall(key) ?? workspace.commands.get(commandKey(key))?.result ?? null,
        remember: async (key, result) => staging.remember(key, result),
        turnPositions: async (threadId) => positions(threadId),
        advance: async (threadId, to) => staging.advance(threadId, positions(threadId), to),
        keepHistory: async (threadId, history) => void staging.histories.set(threadId, history),
      })
      workspace.apply(staging)
      for (const wake of this.#data.listeners) wake(scope)
      if (!staging.isEmpty)
        this.#observers.onCommit({ transactions: 1, seconds: (performance.now() - begun) / 1000 })
      return result
    }
    const mine = workspace.turnstile.pass(run)
    this.#underWay.add(mine)
    return mine.finally(() => this.#underWay.delete(mine))
  }

  async load(scope: Scope, needs: Needs): Promise<State> {
    return this.#workspace(scope).state(needs)
  }

  async head(scope: Scope): Promise<Seq> {
    return this.#workspace(scope).head
  }

  async events(scope: Scope, filter: EventFilter, window: Window): Promise<Page<Envelope>> {
    return mapPage(pageOf(this.#events(scope, filter, window), window), ({ envelope }) => envelope)
  }

  subscribe(scope: Scope, afterSeq: Seq, options?: SubscribeOptions): AsyncIterable<Stretch> {
    return this.#followers.subscribe(scope, afterSeq, options)
  }

  async threads(scope: Scope, window: Window): Promise<Page<Listed<Thread>>> {
    return this.#list(scope, 'threads', window, () => true)
  }

  async artifacts(
    scope: Scope,
    { kind, includeArchived }: Parameters<Storage['artifacts']>[1],
    window: Window,
  ): Promise<Page<Listed<Artifact>>> {
    const wanted = (artifact: Artifact) =>
      (kind === undefined || artifact.kind === kind) && (includeArchived || !artifact.archived)
    return this.#list(scope, 'artifacts', window, wanted)
  }

  async revisions(scope: Scope, artifactId: string, window: Window): Promise<Page<Listed<Revision>>> {
    const rows = this.#workspace(scope).revisions.get(artifactId) ?? []
    return mapPage(pageOf(within(window, rows), window), ({ position, body }) => ({
      position,
      entity: parseRevision(body),
    }))
  }

  async proposals(
    scope: Scope,
    { status }: Parameters<Storage['proposals']>[1],
    window: Window,
  ): Promise<Page<Listed<Proposal>>> {
    return this.#list(
      scope,
      'proposals',
      window,
      (proposal) => status === undefined || proposal.status === status,
    )
  }

  async runs(
    scope: Scope,
    { threadId, statuses }: Parameters<Storage['runs']>[1],
    window: Window,
  ): Promise<Page<Listed<Run>>> {
    const wanted = (run: Run) =>
      (threadId === undefined || run.threadId === threadId) &&
      (statuses === undefined || statuses.includes(run.status))
    return this.#list(scope, 'runs', window, wanted)
  }

  async forgetCommands(scope: Scope, age: number): Promise<number> {
    const { commands } = this.#workspace(scope)
    const old = [...commands].filter(([, { at }]) => at < Date.now() - age)
    for (const [key] of old) commands.delete(key)
    return old.length
  }

  async history(scope: Scope, threadId: string): Promise<Uint8Array | null> {
    return this.#workspace(scope).histories.get(threadId)?.slice() ?? null
  }

  async owedThreads(limit: number): Promise<readonly OwedThread[]> {
    return this.#data.owedThreads().slice(0, limit)
  }

  async lapsedLeases(limit: number): Promise<readonly LapsedLease[]> {
    return this.#data.lapsedLeases().slice(0, limit)
  }

  async acquireLease(scope: Scope, key: string, holder: string, ttl: number): Promise<boolean> {
    const { leases } = this.#workspace(scope)
    const held = leases.get(key)
    const now = Date.now()
    if (held !== undefined && held.holder !== holder && held.expiresAt > now) return false
    leases.set(key, { holder, expiresAt: now + ttl })
    return true
  }

  async releaseLease(scope: Scope, key: string, holder: string): Promise<void> {
    const { leases } = this.#workspace(scope)
    if (leases.get(key)?.holder === holder) leases.delete(key)
  }

  observe(observer: StorageObserver): () => void {
    return this.#observers.add(observer)
  }

  async ping(): Promise<void> {
    if (this.#closed) throw new StorageUnavailable('the storage is closed')
  }

  async close(): Promise<void> {
    this.#closed = true
    this.#data.listeners.delete(this.#wake)
    this.#followers.close()
    await Promise.allSettled(this.#underWay)
  }

  /** Those between the positions that the filter lets pass, in the direction of the window. */
  *#events(scope: Scope, filter: EventFilter, { after: start = 0, before = Infinity, from }: Window) {
    const workspace = this.#workspace(scope)
    const { workspaceId } = scope
    const end = Math.min(workspace.head, before - 1)
    for (let step = 0; step < end - start; step++) {
      const seq = from === 'start' ? start + 1 + step : end - step
      const read = (stored: string) =>
        readEnvelope(stored, { seq, workspaceId }, (error) => this.#unreadable({ scope, seq, error }))
      const event = workspace.event(seq, read, (header) => passes(filter, header))
      if (event !== null) yield event
    }
  }

  #list<Kind extends ListedKind>(
    scope: Scope,
    kind: Kind,
    window: Window,
    wanted: (entity: Entities[Kind]) => boolean,
  ): Page<Listed<Entities[Kind]>> {
    const rows = this.#workspace(scope)
      .list(kind)
      .filter(({ entity }) => wanted(entity))
    return mapPage(pageOf(within(window, rows), window), ({ position, entity }) => ({ position, entity }))
  }

  #workspace(scope: Scope): WorkspaceData {
    if (this.#closed) throw new StorageUnavailable('the storage is closed')
    return this.#data.workspace(scope)
  }
}

const passes = ({ types, threadId, following }: EventFilter, envelope: EnvelopeHeader): boolean =>
  (types === undefined || types.some((type) => type === envelope.event.type)) &&
  (threadId === undefined || threadId === envelope.threadId) &&
  (following === undefined || reachesFollower(envelope, following))

/** What of an ordered list is between the positions of a window, in its direction. */
const within = <Row extends { readonly position: number }>(
  { after = 0, before = Infinity, from }: Window,
  rows: readonly Row[],
): readonly Row[] => {
  const between = rows.filter(({ position }) => position > after && position < before)
  return from === 'start' ? between : between.reverse()
}
