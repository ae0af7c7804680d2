/** Group commit on both databases: what shares a batch does not share a fate (domain §10). */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needing, posted, save, scope, upTo, writes } from '../../src/storage/contract/subject.js'
import { type Storage, StorageUnavailable } from '../../src/storage/port.js'
import type { Commit, Dialect } from '../../src/storage/prisma/dialect.js'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { openPostgres } from '../../src/storage/prisma/postgresql.js'
import { openSqlite } from '../../src/storage/prisma/sqlite.js'
import { PrismaStorage } from '../../src/storage/prisma/storage.js'
import { hold } from '../support/held.js'
import { describePostgres, migratedDatabase } from '../support/postgres.js'
import { ids, messageIds, post, postAll, tally, until, workspaceWithThread } from '../support/posting.js'
import { query } from '../support/sql.js'
import { temporaryDirectory } from '../support/tmp.js'

interface Provider {
  create(): Promise<string>
  open(url: string): Promise<Dialect> | Dialect
  /** Statements that keep everybody else from committing to the workspace, until they are rolled back. */
  readonly locking: readonly string[]
  /** Statements that keep everybody else from writing anything, until they are rolled back. */
  readonly everything: readonly string[]
  /** Statements by which the database refuses events that say "poison". */
  readonly refusing: readonly string[]
}

const sqlite: Provider = {
  create: async () => {
    const url = `file:${temporaryDirectory()}/artifactr.db`
    await migrate(url)
    return url
  },
  open: (url) => openSqlite({ url, synchronous: 'NORMAL', busyTimeout: 20 }),
  locking: ['BEGIN IMMEDIATE'],
  everything: ['BEGIN IMMEDIATE'],
  refusing: [
    `CREATE TRIGGER refuse BEFORE INSERT ON artifactr_events WHEN NEW.envelope LIKE '%poison%'
      BEGIN SELECT RAISE(ABORT, 'refused'); END`,
  ],
}

const postgresql: Provider = {
  create: async () => {
    const url = await migratedDatabase()
    return url
  },
  open: (url) =>
    openPostgres({
      url,
      poolSize: 3,
      lockTimeout: 100,
      statementTimeout: 5_000,
      onConnectionError: () => undefined,
    }),
  locking: ['BEGIN', 'SELECT * FROM artifactr_workspaces FOR UPDATE'],
  everything: ['BEGIN', 'LOCK TABLE artifactr_workspaces, artifactr_leases IN EXCLUSIVE MODE'],
  refusing: [
    `ALTER TABLE artifactr_events ADD CONSTRAINT refuse CHECK (envelope NOT LIKE '%poison%') NOT VALID`,
  ],
}

const factsOf = ({ create, open, locking, everything, refusing }: Provider): void => {
  /** A storage on the database, and what it writes. */
  const opened = async (
    url: string,
    patience = 5_000,
    before = async (_: Commit) => {},
    maxWaiting?: number,
  ) => {
    const dialect = await open(url)
    const commits: Commit[] = []
    const write = async (commit: Commit) => {
      commits.push(commit)
      await before(commit)
      return dialect.write(commit)
    }
    const storage: Storage = new PrismaStorage({ ...dialect, write }, { batch: 128, patience, maxWaiting })
    onTestFinished(() => storage.close())
    return { storage, commits }
  }

  test('what waits for a commit is written together with what else waits', async () => {
    const { storage, commits } = await opened(await create())
    const workspace = await workspaceWithThread(storage)
    expect(tally(await postAll(workspace, ids(100)))).toEqual({ posted: 100 })
    expect(commits.length).toBe(2)
    expect(await messageIds(workspace)).toEqual(ids(100))
  })

  test('work that fails drops its own writes and none of those it is batched with', async () => {
    const { storage } = await opened(await create())
    const workspace = await workspaceWithThread(storage)
    const failure = new Error('no')
    const failing = () =>
      storage.transaction(workspace.scope, async (transaction) => {
        await transaction.save(writes({ events: [posted('dropped')], messages: ['dropped'] }))
        throw failure
      })
    const ends = await Promise.allSettled([
      post(workspace, 'm1'),
      failing(),
      post(workspace, 'm2'),
      failing(),
    ])
    expect(ends.map((end) => (end.status === 'rejected' ? end.reason : end.value))).toEqual([
      'posted',
      failure,
      'posted',
      failure,
    ])
    expect(await messageIds(workspace)).toEqual(['m1', 'm2'])
    expect(await post(workspace, 'dropped')).toBe('posted')
  })

  test('a write that the database refuses fails alone, as a fault, and uses up no id', async () => {
    const url = await create()
    const { storage } = await opened(url)
    const workspace = await workspaceWithThread(storage)
    for (const statement of refusing) await query(url, statement)
    const ends = await Promise.all([
      post(workspace, 'm1'),
      post(workspace, 'm2', 'poison').catch((error: unknown) => error),
      post(workspace, 'm3'),
    ])
    expect(ends).toEqual(['posted', expect.any(Error), 'posted'])
    expect(ends[1]).not.toBeInstanceOf(StorageUnavailable)
    expect(await messageIds(workspace)).toEqual(['m1', 'm3'])
    expect(await post(workspace, 'm2')).toBe('posted')
  })

  test('a stored entity that cannot be read fails those who need it and nobody else', async () => {
    const url = await create()
    const { storage } = await opened(url)
    const workspace = await workspaceWithThread(storage)
    await workspace.commit({ type: 'create_thread', threadId: 't2' })
    await query(url, `UPDATE artifactr_threads SET body = '{' WHERE id = 't2'`)
    const command = { type: 'post_message', threadId: 't2', messageId: 'm2', content: 'hello' } as const
    const failing = () => workspace.commit(command).catch((error: unknown) => error)
    const ends = await Promise.all([post(workspace, 'm1'), failing(), post(workspace, 'm3')])
    expect(ends).toEqual(['posted', expect.any(SyntaxError), 'posted'])
  })

  test('work whose second load finds that others committed since its first is run again', async () => {
    const url = await create()
    const [{ storage }, { storage: other }] = [await opened(url), await opened(url)]
    await save(storage, scope, { events: [posted('m1')], messages: ['m1'] })
    const seen: unknown[] = []
    await storage.transaction(scope, async (transaction) => {
      const first = await transaction.load(needing({ messages: ['m1', 'm2'] }))
      if (seen.length === 0) await save(other, scope, { events: [posted('m2')], messages: ['m2'] })
      seen.push([...first.messages.values()])
      const second = await transaction.load(needing({ messages: ['m2', 'm3'] }))
      seen.push([...second.messages.values()])
      await transaction.save(writes({ events: [posted('m4')], messages: ['m4'] }))
    })
    expect(seen).toEqual([
      [true, false],
      [true, true],
      [true, false],
    ])
    expect(await storage.head(scope)).toBe(3)
  })

  test('a write that is based on what others have changed since is not applied', async () => {
    const url = await create()
    const { storage, commits } = await opened(url)
    const workspace = await workspaceWithThread(storage)
    expect(await post(workspace, 'm1')).toBe('posted')
    const dialect = await open(url)
    onTestFinished(() => dialect.close())
    for (const outdated of commits) expect(await dialect.write(outdated)).toBe(false)
    expect(await messageIds(workspace)).toEqual(['m1'])
    expect(await post(workspace, 'm2')).toBe('posted')
  })

  test('nobody is told of a result before it is written', async () => {
    let enter = () => {}
    const gate = new Promise<void>((resolve) => {
      enter = resolve
    })
    const url = await create()
    const other = (await opened(url)).storage
    const workspace = await workspaceWithThread(other)
    const { storage, commits } = await opened(url, 5_000, () => gate)
    let told = 0
    const posts = upTo(3).map(() =>
      storage
        .transaction(workspace.scope, (transaction) => transaction.save(writes({ events: [posted('m1')] })))
        .then(async () => {
          told++
          expect(await other.head(workspace.scope)).toBeGreaterThan(1)
        }),
    )
    await until(() => commits.length === 1)
    expect(await other.head(workspace.scope)).toBe(1)
    expect(told).toBe(0)
    enter()
    await Promise.all(posts)
    expect(told).toBe(3)
  })

  test('a post refused for a message that was not written in the end is told of the failure and not that it exists', async () => {
    const url = await create()
    const { storage, commits } = await opened(url, 2_000)
    const workspace = await workspaceWithThread(storage)
    const release = await hold(url, ...locking)
    expect(tally(await postAll(workspace, Array(20).fill('m1')))).toEqual({ unavailable: 20 })
    expect(commits.length).toBeGreaterThan(2)
    await release()
    expect(await messageIds(workspace)).toEqual([])
    expect(tally(await postAll(workspace, Array(20).fill('m1')))).toEqual({ posted: 1, 'already exists': 19 })
  })

  test('what waits beyond the bound is unavailable at once, and what waits within it is written', async () => {
    const url = await create()
    const patience = 20_000
    const { storage } = await opened(url, patience, undefined, 40)
    const [locked, other] = [await workspaceWithThread(storage), await workspaceWithThread(storage, 'w2')]
    const release = await hold(url, ...locking)
    const first = post(locked, 'first')
    await pause(50)
    const within = postAll(locked, ids(20))
    const began = performance.now()
    expect(tally(await postAll(locked, ids(30, 'beyond')))).toEqual({ unavailable: 30 })
    expect(performance.now() - began).toBeLessThan(patience / 4)
    const elsewhere = postAll(other, ids(30))
    expect(await post(other, 'beyond')).toBe('unavailable')
    await release()
    expect(tally([await first, ...(await within)])).toEqual({ posted: 21 })
    expect(tally(await elsewhere)).toEqual({ posted: 19, unavailable: 11 })
    expect(tally(await postAll(locked, ids(15, 'later')))).toEqual({ posted: 15 })
  })

  test('a database that takes no writes is not there, though it answers', async () => {
    const url = await create()
    const { storage } = await opened(url, 200)
    const workspace = await workspaceWithThread(storage)
    await storage.ping()
    const release = await hold(url, ...everything)
    expect(await post(workspace, 'm1')).toBe('unavailable')
    expect(await workspace.head()).toBe(1)
    await expect(storage.ping()).rejects.toThrow(StorageUnavailable)
    await release()
    await storage.ping()
    expect(await storage.lapsedLeases(10)).toEqual([])
  })

  test('closing waits for what is under way, and afterwards everything is unavailable', async () => {
    const url = await create()
    const { storage, commits } = await opened(url)
    const workspace = await workspaceWithThread(storage)
    const release = await hold(url, ...locking)
    const posts = postAll(workspace, ids(10))
    await until(() => commits.length > 1)
    const closed = storage.close()
    expect(await post(workspace, 'late')).toBe('unavailable')
    await release()
    expect(tally(await posts)).toEqual({ posted: 10 })
    await closed
    await storage.close()
    await expect(workspace.head()).rejects.toThrow(StorageUnavailable)
    await expect(storage.ping()).rejects.toThrow(StorageUnavailable)
    await expect(storage.acquireLease(scope, 'k', 'a', 1)).rejects.toThrow(StorageUnavailable)
    const again = await opened(url)
    expect(await again.storage.head(workspace.scope)).toBe(11)
  })

  test('closing waits for reads that wait for a connection', async () => {
    const { storage } = await opened(await create())
    const reads = Promise.all(upTo(50).map(() => storage.head(scope)))
    const closed = storage.close()
    expect(await reads).toEqual(Array(50).fill(0))
    await closed
  })

  test('a round looks up so many entities, and no more', async () => {
    const { storage, commits } = await opened(await create())
    const saveWith = (artifacts: string[], n: number) =>
      storage.transaction(
        scope,
        async (transaction) => {
          await transaction.load(needing({ artifacts }))
          await transaction.save(writes({ events: [posted(`m${n}`)], messages: [`m${n}`] }))
        },
        needing({ artifacts }),
      )
    const hundred = (owner: string) => upTo(100).map((n) => `${owner}${n}`)
    await Promise.all(upTo(3).map((n) => saveWith(hundred(`of${n}-`), n)))
    expect(commits.map(({ staging }) => staging.events.length)).toEqual([1, 1, 1])
    commits.length = 0
    await Promise.all(upTo(3).map((n) => saveWith(hundred('shared'), 3 + n)))
    expect(commits.map(({ staging }) => staging.events.length)).toEqual([3])
  })

  test('large writes are not all put in one batch', async () => {
    const { storage, commits } = await opened(await create(), 25_000)
    const content = 'x'.repeat(1024 * 1024)
    const saves = upTo(24).map((n) => {
      const envelope = posted(`m${n}`)
      const large = { ...envelope, event: { ...envelope.event, content } }
      return save(storage, scope, { events: [large], messages: [`m${n}`] })
    })
    const seqs = (await Promise.all(saves)).flatMap((envelopes) => envelopes.map(({ seq }) => seq))
    expect(seqs).toEqual(upTo(24))
    expect(await storage.head(scope)).toBe(24)
    const sizes = commits.map(({ staging }) => staging.events.length)
    expect(Math.max(...sizes)).toBeGreaterThan(1)
    expect(Math.max(...sizes)).toBeLessThan(6)
  })
}

describe('on SQLite', () => factsOf(sqlite))
describePostgres('on PostgreSQL', () => factsOf(postgresql))
