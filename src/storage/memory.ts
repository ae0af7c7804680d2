/**
 * A storage that lives as long as its process: for trying things out, and the reference the databases are compared with. It keeps what
 * a database keeps, as the same text, so that it cannot answer differently.
 */
import type { Artifact, Proposal, Revision, Run, Thread } from '../core/entities.js'
import { type Envelope, parseEnvelope, type Seq, serializeEnvelope } from '../core/envelopes.js'
import { reachesFollower } from '../core/follow.js'
import type { Needs, State } from '../core/state.js'
import { parseEntity, parseRevision } from './codec.js'
import {
  commandKey,
  type EventFilter,
  type LapsedLease,
  type Listed,
  type OwedThread,
  type Scope,
  type Storage,
  StorageUnavailable,
  scopeKey,
  type Transaction,
  type TurnPositions,
  type Window,
} from './port.js'
import { type Entities, type ListedKind, listedKinds, Staging } from './staging.js'
import { Turnstile } from './turnstile.js'

interface Row {
  readonly position: number
  readonly body: string
}

interface Lease {
  readonly holder: string
  readonly expiresAt: number
}

/** What is stored of one workspace. */
class WorkspaceData {
  readonly scope: Scope
  readonly entities: Record<ListedKind, Map<string, Row>> = {
    artifacts: new Map(),
    proposals: new Map(),
    threads: new Map(),
    runs: new Map(),
  }
  readonly revisions = new Map<string, Row[]>()
  readonly messages = new Set<string>()
  readonly log = new Map<Seq, string>()
  head: Seq = 0
  readonly commands = new Map<string, { readonly result: string; readonly at: number }>()
  readonly turns = new Map<string, TurnPositions>()
  readonly histories = new Map<string, Uint8Array>()
  readonly leases = new Map<string, Lease>()
  readonly turnstile = new Turnstile()

  constructor(scope: Scope) {
    this.scope = scope
  }

  state(needs: Needs): State {
    return {
      artifacts: this.#load('artifacts', needs.artifacts),
      proposals: this.#load('proposals', needs.proposals),
      threads: this.#load('threads', needs.threads),
      runs: this.#load('runs', needs.runs),
      messages: new Map(needs.messages.map((id) => [id, this.messages.has(id)])),
    }
  }

  apply(staging: Staging): void {
    for (const kind of listedKinds) {
      for (const [id, { entity, position }] of staging.entities[kind]) {
        const stored = this.entities[kind].get(id)
        this.entities[kind].set(id, { position: stored?.position ?? position, body: JSON.stringify(entity) })
      }
    }
    for (const revision of staging.revisions) {
      const rows = this.revisions.get(revision.artifactId) ?? []
      this.revisions.set(revision.artifactId, rows)
      rows.push({ position: revision.version, body: JSON.stringify(revision) })
    }
    for (const id of staging.messages) this.messages.add(id)
    for (const [key, { result }] of staging.commands) this.commands.set(key, { result, at: Date.now() })
    for (const [threadId, positions] of staging.turns) this.turns.set(threadId, positions)
    for (const [threadId, history] of staging.histories) this.histories.set(threadId, history.slice())
    for (const envelope of staging.events) this.log.set(envelope.seq, serializeEnvelope(envelope))
    this.head = staging.head
  }

  list<Kind extends ListedKind>(kind: Kind): Listed<Entities[Kind]>[] {
    return [...this.entities[kind].values()]
      .map(({ position, body }) => ({ position, entity: parseEntity(kind, body) }))
      .sort((a, b) => a.position - b.position)
  }

  #load<Kind extends ListedKind>(kind: Kind, ids: readonly string[]): Map<string, Entities[Kind] | null> {
    return new Map(
      ids.map((id) => {
        const row = this.entities[kind].get(id)
        return [id, row === undefined ? null : parseEntity(kind, row.body)]
      }),
    )
  }
}

/** The data of any number of memory storages, as a database is that of any number of processes. */
export class MemoryData {
  readonly #workspaces = new Map<string, WorkspaceData>()

  workspace(scope: Scope): WorkspaceData {
    const key = scopeKey(scope)
    const workspace = this.#workspaces.get(key) ?? new WorkspaceData(scope)
    this.#workspaces.set(key, workspace)
    return workspace
  }

  lapsedLeases(): LapsedLease[] {
    return [...this.#workspaces.values()].flatMap(({ scope, leases }) =>
      [...leases].filter(([, { expiresAt }]) => expiresAt <= Date.now()).map(([key]) => ({ scope, key })),
    )
  }

  owedThreads(): OwedThread[] {
    return [...this.#workspaces.values()].flatMap(({ scope, turns }) =>
      [...turns].filter(([, { asked, taken }]) => asked > taken).map(([threadId]) => ({ scope, threadId })),
    )
  }
}

export class MemoryStorage implements Storage {
  readonly #data: MemoryData
  readonly #underWay = new Set<Promise<unknown>>()
  #closed = false

  constructor(data: MemoryData = new MemoryData()) {
    this.#data = data
  }

  async transaction<Result>(
    scope: Scope,
    work: (transaction: Transaction) => Promise<Result>,
  ): Promise<Result> {
    const workspace = this.#workspace(scope)
    const run = async (): Promise<Result> => {
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

  async events(scope: Scope, filter: EventFilter, window: Window): Promise<readonly Envelope[]> {
    const { log, head } = this.#workspace(scope)
    const start = window.after ?? 0
    const end = Math.min(head, (window.before ?? Infinity) - 1)
    const found: Envelope[] = []
    for (let step = 0; step < end - start && found.length < window.limit; step++) {
      const stored = log.get(window.from === 'start' ? start + 1 + step : end - step)
      const envelope = stored === undefined ? undefined : parseEnvelope(stored)
      if (envelope !== undefined && passes(filter, envelope)) found.push(envelope)
    }
    return window.from === 'start' ? found : found.reverse()
  }

  async threads(scope: Scope, window: Window): Promise<readonly Listed<Thread>[]> {
    return this.#list(scope, 'threads', window, () => true)
  }

  async artifacts(
    scope: Scope,
    { kind, includeArchived }: Parameters<Storage['artifacts']>[1],
    window: Window,
  ): Promise<readonly Listed<Artifact>[]> {
    const wanted = (artifact: Artifact) =>
      (kind === undefined || artifact.kind === kind) && (includeArchived || !artifact.archived)
    return this.#list(scope, 'artifacts', window, wanted)
  }

  async revisions(scope: Scope, artifactId: string, window: Window): Promise<readonly Listed<Revision>[]> {
    const rows = this.#workspace(scope).revisions.get(artifactId) ?? []
    return within(window, rows, ({ position }) => position).map(({ position, body }) => ({
      position,
      entity: parseRevision(body),
    }))
  }

  async proposals(
    scope: Scope,
    { status }: Parameters<Storage['proposals']>[1],
    window: Window,
  ): Promise<readonly Listed<Proposal>[]> {
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
  ): Promise<readonly Listed<Run>[]> {
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

  async ping(): Promise<void> {
    if (this.#closed) throw new StorageUnavailable('the storage is closed')
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.allSettled(this.#underWay)
  }

  #list<Kind extends ListedKind>(
    scope: Scope,
    kind: Kind,
    window: Window,
    wanted: (entity: Entities[Kind]) => boolean,
  ): readonly Listed<Entities[Kind]>[] {
    const rows = this.#workspace(scope)
      .list(kind)
      .filter(({ entity }) => wanted(entity))
    return within(window, rows, ({ position }) => position)
  }

  #workspace(scope: Scope): WorkspaceData {
    if (this.#closed) throw new StorageUnavailable('the storage is closed')
    return this.#data.workspace(scope)
  }
}

const passes = ({ types, threadId, following }: EventFilter, envelope: Envelope): boolean =>
  (types === undefined || types.some((type) => type === envelope.event.type)) &&
  (threadId === undefined || threadId === envelope.threadId) &&
  (following === undefined || reachesFollower(envelope, following))

/** The part of an ordered list that a window shows. */
const within = <Item>(
  { after, before, limit, from }: Window,
  items: readonly Item[],
  positionOf: (item: Item) => number,
): readonly Item[] => {
  const between = items.filter((item) => {
    const position = positionOf(item)
    return (after === undefined || position > after) && (before === undefined || position < before)
  })
  if (from === 'start') return between.slice(0, limit)
  return between.slice(Math.max(0, between.length - limit))
}
