/** The storage on SQLite: one file, one writer at a time, and whoever else has the file open. */
import { setImmediate as turn } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { z } from 'zod'
import { posted, writes } from '../../src/storage/contract/subject.js'
import { type Dialect, raw, type Sql, sql } from '../../src/storage/prisma/dialect.js'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { openSqlite } from '../../src/storage/prisma/sqlite.js'
import { PrismaStorage } from '../../src/storage/prisma/storage.js'
import { hold } from '../support/held.js'
import {
  expectKept,
  ids,
  messageIds,
  post,
  postAll,
  tally,
  until,
  workspaceOf,
  workspaceWithThread,
} from '../support/posting.js'
import { query, withSql } from '../support/sql.js'
import { temporaryDirectory } from '../support/tmp.js'

const database = async (): Promise<string> => {
  const url = `file:${temporaryDirectory()}/artifactr.db`
  await migrate(url)
  return url
}

const opened = async (url: string, patience = 5_000, busyTimeout = 50) => {
  const dialect = await openSqlite({ url, synchronous: 'NORMAL', busyTimeout })
  const storage = new PrismaStorage(dialect, { batch: 128, patience })
  onTestFinished(() => storage.close())
  return { storage, dialect }
}

/** Makes the file as small as what is in it and `pages` more, for writes through this dialect. */
const leavePages = async (url: string, dialect: Dialect, pages: number): Promise<void> => {
  const [row] = await query(url, 'PRAGMA page_count')
  await dialect.execute(sql`PRAGMA max_page_count = ${raw(String(Number(row?.['page_count']) + pages))}`)
}

const refuse = (url: string, what: string) =>
  query(
    url,
    `CREATE TRIGGER refuse BEFORE INSERT ON artifactr_messages WHEN NEW.id LIKE '${what}%'
      BEGIN SELECT RAISE(ABORT, 'refused'); END`,
  )

test('64 posts at once to one workspace all succeed', async () => {
  const workspace = await workspaceWithThread((await opened(await database())).storage)
  expect(tally(await postAll(workspace, ids(64)))).toEqual({ posted: 64 })
  expect(await messageIds(workspace)).toEqual(ids(64))
})

test("one request's rollback never touches another's write", async () => {
  const url = await database()
  const { storage } = await opened(url, 25_000)
  const good = await Promise.all(ids(8, 'good').map((id) => workspaceWithThread(storage, id)))
  const bad = await Promise.all(ids(8, 'bad').map((id) => workspaceWithThread(storage, id)))
  // The event and the thread are written, and rolled back, when the message id is refused: in the midst of the others' writes.
  await refuse(url, 'bad')
  const outcomes = await Promise.all(
    ids(20).flatMap((id) => [
      ...good.map((workspace) => post(workspace, id)),
      ...bad.map((workspace) => post(workspace, `bad-${id}`).catch((error: unknown) => error)),
    ]),
  )
  expect(outcomes.filter((outcome) => outcome === 'posted')).toHaveLength(160)
  expect(outcomes.filter((outcome) => outcome instanceof Error)).toHaveLength(160)
  for (const workspace of good) expect(await messageIds(workspace)).toEqual(ids(20))
  for (const workspace of bad) {
    expect(await messageIds(workspace)).toEqual([])
    expect(await workspace.head()).toBe(1)
  }
})

test('a read sees nothing of a write that is rolled back', async () => {
  const url = await database()
  const { storage } = await opened(url)
  const workspace = await workspaceWithThread(storage)
  await refuse(url, 'bad')
  let isOver = false
  const refused = Promise.all(ids(50).map((id) => post(workspace, `bad-${id}`).catch(() => 'refused'))).then(
    () => {
      isOver = true
    },
  )
  while (!isOver) {
    expect(await workspace.head()).toBe(1)
    expect((await workspace.events({}, { after: 1, limit: 1, from: 'start' })).entries).toEqual([])
    await turn()
  }
  await refused
})

test('a reader that holds the file loses no acknowledged commit, and keeps seeing what it saw', async () => {
  const url = await database()
  const { storage } = await opened(url)
  const workspace = await workspaceWithThread(storage)
  expect(await post(workspace, 'm1')).toBe('posted')
  await withSql(url, async (run) => {
    await run('BEGIN')
    const count = () => run('SELECT count(*) AS n FROM artifactr_messages')
    expect(await count()).toEqual([{ n: 1 }])
    expect(tally(await postAll(workspace, ids(200, 'during')))).toEqual({ posted: 200 })
    expect(await count()).toEqual([{ n: 1 }])
    await storage.close()
    await run('COMMIT')
    expect(await count()).toEqual([{ n: 201 }])
  })
  await expectKept(workspaceOf((await opened(url)).storage), ['m1', ...ids(200, 'during')])
})

test('posts wait for a writer elsewhere, and the process goes on meanwhile', async () => {
  const url = await database()
  const busyTimeout = 250
  const dialect = await openSqlite({ url, synchronous: 'NORMAL', busyTimeout })
  let [isOver, turns] = [false, 0]
  /** Of each attempt to write, how often the process had come around by then, and how long it took. */
  const attempts: { readonly turns: number; readonly took: number }[] = []
  const write: Dialect['write'] = async (commit) => {
    const [began, before] = [performance.now(), turns]
    return dialect.write(commit).finally(() => {
      attempts.push({ turns: before, took: performance.now() - began })
    })
  }
  const storage = new PrismaStorage({ ...dialect, write }, { batch: 128, patience: 20_000 })
  onTestFinished(() => storage.close())
  const workspace = await workspaceWithThread(storage)
  const release = await hold(url, 'BEGIN IMMEDIATE')
  attempts.length = 0
  const posts = postAll(workspace, ids(64)).finally(() => {
    isOver = true
  })
  for (; !isOver; turns++) {
    await turn()
    if (attempts.length === 5) await release()
  }
  expect(tally(await posts)).toEqual({ posted: 64 })
  const refused = attempts.slice(0, 5)
  expect(new Set(refused.map(({ turns }) => turns)).size).toBe(5)
  // Other work takes its time as well, but not each time; a timeout that is taken twice in a row is.
  expect(Math.min(...refused.map(({ took }) => took))).toBeLessThan(2 * busyTimeout)
  expect(await messageIds(workspace)).toEqual(ids(64))
})

test('posts that wait too long for a writer elsewhere are unavailable, write nothing, and may be tried again', async () => {
  const url = await database()
  const { storage } = await opened(url, 300)
  const workspace = await workspaceWithThread(storage)
  const release = await hold(url, 'BEGIN IMMEDIATE')
  expect(tally(await postAll(workspace, ids(64)))).toEqual({ unavailable: 64 })
  expect(await messageIds(workspace)).toEqual([])
  await release()
  expect(tally(await postAll(workspace, ids(64)))).toEqual({ posted: 64 })
})

test('two storages that post at once leave a log without a gap, and one of them wins each id', async () => {
  const url = await database()
  const one = await workspaceWithThread((await opened(url)).storage)
  const other = workspaceOf((await opened(url)).storage)
  const [a, b, same] = [ids(64, 'a'), ids(64, 'b'), ids(64, 'same')]
  const outcomes = await Promise.all([postAll(one, [...a, ...same]), postAll(other, [...same, ...b])])
  expect(tally(outcomes.flat())).toEqual({ posted: 192, 'already exists': 64 })
  expect((await messageIds(one)).sort()).toEqual([...a, ...b, ...same].sort())
})

test('a full disk is unavailable and leaves no transaction open; with room again, posts work', async () => {
  const url = await database()
  const { storage, dialect } = await opened(url, 100)
  const workspace = await workspaceWithThread(storage)
  const large = 'x'.repeat(50_000)
  await leavePages(url, dialect, 3)
  expect(await post(workspace, 'm1', large)).toBe('unavailable')
  expect(await post(workspace, 'm1', large)).toBe('unavailable')
  // Somebody else may write, so nothing is open; and so may this process, what fits.
  await query(url, 'CREATE TABLE of_somebody_else (n INTEGER)')
  expect(await post(workspace, 'm2')).toBe('posted')
  await leavePages(url, dialect, 10_000)
  expect(await post(workspace, 'm1', large)).toBe('posted')
  expect(await messageIds(workspace)).toEqual(['m2', 'm1'])
})

test('a COMMIT that fails leaves no transaction open, and what it would have written is not there', async () => {
  const url = await database()
  const { storage, dialect } = await opened(url)
  const workspace = await workspaceWithThread(storage)
  // A deferred foreign key is checked by the COMMIT and by nothing before it.
  for (const statement of [
    'CREATE TABLE parents (id TEXT PRIMARY KEY)',
    'CREATE TABLE children (id TEXT REFERENCES parents (id) DEFERRABLE INITIALLY DEFERRED)',
    `CREATE TRIGGER orphan AFTER INSERT ON artifactr_messages WHEN NEW.id = 'orphan'
      BEGIN INSERT INTO children VALUES (NEW.id); END`,
  ])
    await query(url, statement)
  await dialect.execute(sql`PRAGMA foreign_keys = ON`)
  await expect(post(workspace, 'orphan')).rejects.toThrow(/FOREIGN KEY/)
  await query(url, `DROP TRIGGER orphan`)
  expect(await messageIds(workspace)).toEqual([])
  expect(await post(workspace, 'orphan')).toBe('posted')
})

test('a used id that the guard let pass is a fault, and never "already exists"', async () => {
  const url = await database()
  const { storage } = await opened(url)
  const workspace = await workspaceWithThread(storage)
  const meddling = storage.transaction(workspace.scope, async (transaction) => {
    await query(url, `INSERT INTO artifactr_messages VALUES ('acme', 'w1', 'm1')`)
    await transaction.save(writes({ events: [posted('m1')], messages: ['m1'] }))
  })
  await expect(meddling).rejects.toThrow(/UNIQUE constraint failed: artifactr_messages/)
  expect(await workspace.head()).toBe(1)
})

test('a file that somebody else is writing to is opened once they have finished', async () => {
  const url = await database()
  await query(url, 'PRAGMA journal_mode = DELETE')
  const release = await hold(url, 'BEGIN IMMEDIATE')
  let isOpen = false
  const opening = opened(url).then(({ storage }) => {
    isOpen = true
    return workspaceWithThread(storage)
  })
  const began = Date.now()
  await until(() => Date.now() - began > 200)
  expect(isOpen).toBe(false)
  await release()
  expect(await post(await opening, 'm1')).toBe('posted')
  expect(await query(url, 'PRAGMA journal_mode')).toEqual([{ journal_mode: 'wal' }])
})

test('keys are looked up in indexes', async () => {
  const url = await database()
  const { dialect } = await opened(url)
  const statements: Sql[] = []
  const reads = {
    $queryRaw: (query: Sql) => {
      statements.push(query)
      return dialect.reads.$queryRaw(query)
    },
  }
  const storage = new PrismaStorage({ ...dialect, reads }, { batch: 128, patience: 5_000 })
  onTestFinished(() => storage.close())
  const workspace = await workspaceWithThread(storage)
  await Promise.all([post(workspace, 'm1'), post(workspace, 'm2')])
  await workspace.load({ artifacts: ['a'], proposals: ['p'], threads: ['t'], runs: ['r'], messages: ['m'] })
  await workspace.messages('t1', { limit: 50, from: 'end' })
  await until(() => statements.length > 3)
  for (const statement of [...statements]) {
    const plan = await dialect.reads.$queryRaw(sql`EXPLAIN QUERY PLAN ${statement}`)
    const steps = z
      .array(z.object({ detail: z.string() }))
      .parse(plan)
      .map(({ detail }) => detail)
    const tables = steps.filter((step) => step.includes('artifactr_'))
    expect(tables.filter((step) => step.startsWith('SCAN'))).toEqual([])
    expect(tables.filter((step) => !/workspaces|events|\(.*id=\?\)$/.test(step))).toEqual([])
  }
})
