/** The storage on a database: SQLite or PostgreSQL, through Prisma. What differs between them is in their dialects. */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import type { Artifact, Proposal, Revision, Run, Thread } from '../../core/entities.js'
import type { Envelope, Seq } from '../../core/envelopes.js'
import { type Needs, noNeeds, type State } from '../../core/state.js'
import { Followers } from '../follow.js'
import { type Connections, type StorageObserver, StorageObservers } from '../observer.js'
import {
  type EventFilter,
  type Expected,
  type LapsedLease,
  type Listed,
  type OwedThread,
  type Page,
  type Scope,
  type Storage,
  StorageUnavailable,
  type Stretch,
  type SubscribeOptions,
  scopeKey,
  type Transaction,
  type Window,
} from '../port.js'
import { reportingOnce, type Unreadable } from '../unreadable.js'
import { type Commit, type Dialect, type Sql, sql, type WakeUps } from './dialect.js'
import { Lane, type LaneOptions } from './lane.js'
import { inScope, readEntities, readEvents, readRevisions, readSnapshot } from './reads.js'
import { Writability } from './writability.js'

export interface StorageOptions extends Omit<LaneOptions, 'observer'> {
  /** The most transactions that wait at a time; those of one workspace may be half as many. */
  readonly maxWaiting?: number | undefined
  /** Told once of each stored event that is broken. */
  readonly onUnreadable?: ((problem: Unreadable) => void) | undefined
}

export class PrismaStorage implements Storage {
  readonly #dialect: Dialect
  readonly #options: LaneOptions & Pick<StorageOptions, 'maxWaiting'>
  readonly #observers = new StorageObservers()
  readonly #followers: Followers
  readonly #wakeUps: WakeUps
  readonly #unreadable: (problem: Unreadable) => void
  /** The lanes of the workspaces that have something under way. */
  readonly #lanes = new Map<string, Lane>()
  /** Reads, and other single statements, that are under way. */
  readonly #reads = new Set<Promise<unknown>>()
  #closed: Promise<void> | null = null
  #waiting = 0
  readonly #writability = new Writability()

  constructor(dialect: Dialect, options: StorageOptions) {
    this.#options = { ...options, observer: this.#observers }
    this.#unreadable = reportingOnce(options.onUnreadable ?? (() => undefined))
    this.#followers = new Followers(this, {
      pollInterval: () => this.#wakeUps.pollInterval,
      onFollow: () => this.#wakeUps.listen(),
      onRest: () => this.#wakeUps.rest(),
    })
    this.#wakeUps = dialect.openWakeUps({
      one: (scope) => this.#followers.wake(scope),
      all: () => this.#followers.wakeAll(),
    })
    this.#dialect = {
      ...dialect,
      write: (commit) => this.#writability.note(() => this.#write(dialect, commit)),
      execute: (statement) => this.#writability.note(() => dialect.execute(statement)),
    }
  }

  /** Whatever became of a write, unless it certainly did not apply: who follows is to look. */
  async #write(dialect: Dialect, commit: Commit): Promise<boolean> {
    let applied: boolean | null = null
    try {
      applied = await dialect.write(commit)
      return applied
    } finally {
      if (applied !== false) {
        this.#followers.wake(commit.scope)
        this.#wakeUps.notify(commit.scope)
      }
    }
  }

  async transaction<Result>(
    scope: Scope,
    work: (transaction: Transaction) => Promise<Result>,
    expected: Expected = noNeeds,
  ): Promise<Result> {
    this.#checkOpen()
    const key = scopeKey(scope)
    const onIdle = () => this.#lanes.delete(key)
    const lane = this.#lanes.get(key) ?? new Lane(this.#dialect, scope, this.#options, onIdle)
    const { maxWaiting = MAX_WAITING } = this.#options
    if (this.#waiting >= maxWaiting || lane.waiting >= maxWaiting / 2)
      throw new StorageUnavailable('too much waits to be written already')
    this.#lanes.set(key, lane)
    this.#waiting++
    return lane.run(work, expected).finally(() => this.#waiting--)
  }

  async load(scope: Scope, needs: Needs): Promise<State> {
    const { state } = await this.#read(() => readSnapshot(this.#dialect, scope, needs))
    return state
  }

  async head(scope: Scope): Promise<Seq> {
    const { head } = await this.#read(() => readSnapshot(this.#dialect, scope, noNeeds))
    return head
  }

  events(scope: Scope, filter: EventFilter, window: Window): Promise<Page<Envelope>> {
    const report = (seq: Seq, error: unknown) => this.#unreadable({ scope, seq, error })
    return this.#read(() => readEvents(this.#dialect, scope, filter, window, report))
  }

  subscribe(scope: Scope, afterSeq: Seq, options?: SubscribeOptions): AsyncIterable<Stretch> {
    return this.#followers.subscribe(scope, afterSeq, options)
  }

  threads(scope: Scope, window: Window): Promise<Page<Listed<Thread>>> {
    return this.#read(() => readEntities(this.#dialect, scope, 'threads', [], window))
  }

  artifacts(
    scope: Scope,
    { kind, includeArchived }: Parameters<Storage['artifacts']>[1],
    window: Window,
  ): Promise<Page<Listed<Artifact>>> {
    const where = [
      ...(kind === undefined ? [] : [sql`kind = ${kind}`]),
      ...(includeArchived ? [] : [sql`archived = ${false}`]),
    ]
    return this.#read(() => readEntities(this.#dialect, scope, 'artifacts', where, window))
  }

  revisions(scope: Scope, artifactId: string, window: Window): Promise<Page<Listed<Revision>>> {
    return this.#read(() => readRevisions(this.#dialect, scope, artifactId, window))
  }

  proposals(
    scope: Scope,
    { status }: Parameters<Storage['proposals']>[1],
    window: Window,
  ): Promise<Page<Listed<Proposal>>> {
    const where = status === undefined ? [] : [sql`status = ${status}`]
    return this.#read(() => readEntities(this.#dialect, scope, 'proposals', where, window))
  }

  runs(
    scope: Scope,
    { threadId, statuses }: Parameters<Storage['runs']>[1],
    window: Window,
  ): Promise<Page<Listed<Run>>> {
    const where = [
      ...(threadId === undefined ? [] : [sql`thread_id = ${threadId}`]),
      ...(statuses === undefined ? [] : [this.#dialect.oneOf(sql`status`, statuses)]),
    ]
    return this.#read(() => readEntities(this.#dialect, scope, 'runs', where, window))
  }

  forgetCommands(scope: Scope, age: number): Promise<number> {
    const before = BigInt(Date.now() - age)
    return this.#read(() =>
      this.#dialect.execute(
        sql`DELETE FROM artifactr_commands WHERE ${inScope(scope)} AND stored_at < ${before}`,
      ),
    )
  }

  async history(scope: Scope, threadId: string): Promise<Uint8Array | null> {
    const rows = await this.#read(() =>
      this.#dialect.reads.$queryRaw(
        sql`SELECT body FROM artifactr_model_history WHERE ${inScope(scope)} AND thread_id = ${threadId}`,
      ),
    )
    return z.array(z.object({ body: z.instanceof(Uint8Array) })).parse(rows)[0]?.body ?? null
  }

  async owedThreads(limit: number): Promise<readonly OwedThread[]> {
    const found = await this.#across(sql`SELECT tenant_id, workspace_id, thread_id AS id FROM artifactr_turns
      WHERE owed = ${true} LIMIT ${limit}`)
    return found.map(({ scope, id }) => ({ scope, threadId: id }))
  }

  async lapsedLeases(limit: number): Promise<readonly LapsedLease[]> {
    const found = await this.#across(sql`SELECT tenant_id, workspace_id, key AS id FROM artifactr_leases
      WHERE expires_at <= ${this.#dialect.now} LIMIT ${limit}`)
    return found.map(({ scope, id }) => ({ scope, key: id }))
  }

  /** What recovery looks for in every scope. */
  async #across(query: Sql): Promise<{ scope: Scope; id: string }[]> {
    const rows = await this.#read(() => this.#dialect.reads.$queryRaw(query))
    return z
      .array(z.object({ tenant_id: z.string(), workspace_id: z.string(), id: z.string() }))
      .parse(rows)
      .map(({ tenant_id: tenantId, workspace_id: workspaceId, id }) => ({
        scope: { tenantId, workspaceId },
        id,
      }))
  }

  async acquireLease(scope: Scope, key: string, holder: string, ttl: number): Promise<boolean> {
    const { now } = this.#dialect
    const expires = sql`${now} + ${ttl}`
    const taken = await this.#read(() =>
      this.#dialect.execute(sql`INSERT INTO artifactr_leases (tenant_id, workspace_id, key, holder, expires_at)
        VALUES (${scope.tenantId}, ${scope.workspaceId}, ${key}, ${holder}, ${expires})
        ON CONFLICT (tenant_id, workspace_id, key) DO UPDATE SET holder = excluded.holder, expires_at = excluded.expires_at
        WHERE artifactr_leases.holder = excluded.holder OR artifactr_leases.expires_at <= ${now}`),
    )
    return taken === 1
  }

  async releaseLease(scope: Scope, key: string, holder: string): Promise<void> {
    await this.#read(() =>
      this.#dialect.execute(
        sql`DELETE FROM artifactr_leases WHERE ${inScope(scope)} AND key = ${key} AND holder = ${holder}`,
      ),
    )
  }

  /** Asks nothing but whether it answers, as long as writes succeed; else it writes: disks run full, and primaries become standbys. */
  async ping(): Promise<void> {
    await this.#read(() => this.#dialect.reads.$queryRaw(sql`SELECT 1`))
    if (this.#writability.isKnown) return
    const holder = randomUUID()
    await this.acquireLease(PROBED, holder, holder, PROBE_TTL)
    await this.releaseLease(PROBED, holder, holder)
  }

  observe(observer: StorageObserver): () => void {
    return this.#observers.add(observer)
  }

  connections(): Connections | null {
    return this.#dialect.connections?.() ?? null
  }

  close(): Promise<void> {
    this.#closed ??= this.#close()
    return this.#closed
  }

  /** What is under way ends first: the driver would leave what waits for a connection waiting. */
  async #close(): Promise<void> {
    this.#followers.close()
    await Promise.all([...this.#lanes.values()].map((lane) => lane.idle()))
    await Promise.allSettled(this.#reads)
    await this.#wakeUps.close()
    await this.#dialect.close()
  }

  async #read<Result>(statement: () => Promise<Result>): Promise<Result> {
    const reading = this.#again(statement)
    this.#reads.add(reading)
    return reading.finally(() => this.#reads.delete(reading))
  }

  /** Runs what may be run again: a connection that broke while idle fails the first statement it is given. */
  async #again<Result>(statement: () => Promise<Result>): Promise<Result> {
    const deadline = Date.now() + this.#options.patience
    for (let tries = 1; ; tries++) {
      this.#checkOpen()
      try {
        return await statement()
      } catch (error) {
        if (this.#dialect.trouble(error) === 'fault') throw error
        if (tries === MAX_TRIES || Date.now() > deadline) {
          this.#observers.onUnavailable()
          throw new StorageUnavailable('the database is out of reach, or too busy', { cause: error })
        }
      }
      await pause(Math.random() * 10 ** tries)
    }
  }

  #checkOpen(): void {
    if (this.#closed !== null) throw new StorageUnavailable('the storage is closed')
  }
}

const MAX_WAITING = 5_000

/** Where it is tried whether the database takes writes. No workspace has this scope, since an id is not empty. */
const PROBED: Scope = { tenantId: '', workspaceId: '' }
const PROBE_TTL = 60_000

/** One for each connection that may have broken would be too many; a few are enough for those in use. */
const MAX_TRIES = 3
