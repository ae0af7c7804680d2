/** The storage on PostgreSQL: several at once, the statements it runs, and databases that are set up in their own way. */
import { randomUUID } from 'node:crypto'
import { expect, onTestFinished, test } from 'vitest'
import { scope } from '../../src/storage/contract/subject.js'
import type { Dialect, Sql } from '../../src/storage/prisma/dialect.js'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { guardedWrite, openPostgres } from '../../src/storage/prisma/postgresql.js'
import { PrismaStorage } from '../../src/storage/prisma/storage.js'
import { databaseUrl, describePostgres, migratedDatabase, postgresUrl } from '../support/postgres.js'
import {
  expectKept,
  ids,
  messageIds,
  post,
  postAll,
  tally,
  workspaceOf,
  workspaceWithThread,
} from '../support/posting.js'
import { query, withSql } from '../support/sql.js'

/** A storage, and every statement it runs but writes of leases. */
const opened = (url: string, patience = 5_000) => {
  const dialect = openPostgres({
    url,
    poolSize: 5,
    lockTimeout: 1_000,
    statementTimeout: 10_000,
    onConnectionError: () => undefined,
  })
  const statements: Sql[] = []
  const observed: Dialect = {
    ...dialect,
    reads: {
      $queryRaw: (query) => {
        statements.push(query)
        return dialect.reads.$queryRaw(query)
      },
    },
    write: (commit) => {
      statements.push(guardedWrite(commit))
      return dialect.write(commit)
    },
  }
  const storage = new PrismaStorage(observed, { batch: 128, patience })
  onTestFinished(() => storage.close())
  return { storage, statements }
}

/** Does everything once that looks something up by its key or writes, and then everything that pages. */
const use = async ({ storage, statements }: ReturnType<typeof opened>) => {
  const workspace = await workspaceWithThread(storage)
  statements.length = 0
  await Promise.all([post(workspace, 'm1'), post(workspace, 'm2')])
  await post(workspace, 'm2')
  const artifact = { kind: 'note', data: { title: '', text: '' } }
  await workspace.commit({ type: 'create_artifact', artifactId: 'a1', ...artifact }, { commandId: 'c1' })
  await workspace.load({
    artifacts: ['a1'],
    proposals: ['p1'],
    threads: ['t1'],
    runs: ['r1'],
    messages: ['m1'],
  })
  const byKey = statements.splice(0)
  const window = { limit: 50, from: 'end' } as const
  await workspace.messages('t1', window)
  await workspace.messageAt(2)
  await workspace.threads(window)
  await workspace.artifacts({ kind: 'note', includeArchived: false }, window)
  await workspace.runs({ threadId: 't1' }, window)
  const pages = statements.splice(0)
  return { byKey, pages }
}

const literal = (value: unknown): string => {
  if (Array.isArray(value)) return `ARRAY[${value.map(literal).join(', ')}]::text[]`
  return typeof value === 'string' ? `'${value.replaceAll("'", "''")}'` : String(value)
}

/** The tables that statements read from end to end, and the most pages one of them touches; planned for its values and for all. */
const effort = async (url: string, statements: readonly Sql[]) => {
  const plans: string[] = []
  await withSql(url, async (run) => {
    for (const { text, values } of statements) {
      await run(`PREPARE statement AS ${text}`)
      for (const mode of ['force_custom_plan', 'force_generic_plan']) {
        await run(`SET plan_cache_mode = ${mode}`)
        const execute = `EXECUTE statement (${values.map(literal).join(', ')})`
        const lines = await run(`EXPLAIN (ANALYZE, BUFFERS) ${execute}`)
        plans.push(lines.map((line) => line['QUERY PLAN']).join('\n'))
      }
      await run('DEALLOCATE statement')
    }
  })
  const pagesIn = (plan: string) =>
    /Buffers: shared(?: hit=(\d+))?(?: read=(\d+))?/.exec(plan)?.slice(1) ?? []
  return {
    scanned: plans.flatMap((plan) => [...plan.matchAll(/Seq Scan on (\w+)/g)].map(([, table]) => table)),
    pages: Math.max(...plans.map((plan) => pagesIn(plan).reduce((sum, n = '0') => sum + Number(n), 0))),
  }
}

/** A workspace with most of 100,000 messages, and many with a few; none of it is analysed before it is asked for. */
const fill: readonly string[] = [
  `DO $$ DECLARE name text; BEGIN
    FOR name IN SELECT tablename FROM pg_tables WHERE schemaname = 'public'
    LOOP EXECUTE format('ALTER TABLE %I SET (autovacuum_enabled = off)', name); END LOOP; END $$`,
  `CREATE VIEW rows AS SELECT 'acme' AS tenant_id, 'w' || CASE WHEN n % 3 = 0 THEN n % 3000 ELSE 1 END AS workspace_id, n
    FROM generate_series(1, 100000) AS n`,
  `INSERT INTO artifactr_workspaces SELECT DISTINCT tenant_id, workspace_id, 100001, 'token' FROM rows`,
  `INSERT INTO artifactr_messages SELECT tenant_id, workspace_id, 'old' || n FROM rows`,
  `INSERT INTO artifactr_events (tenant_id, workspace_id, seq, id, type, thread_id, envelope)
    SELECT tenant_id, workspace_id, n, 'evt' || n, 'message_posted', 'old' || n % 100, '{}' FROM rows`,
  `INSERT INTO artifactr_threads SELECT tenant_id, workspace_id, 'old' || n, n, '{}' FROM rows WHERE n <= 10000`,
  `INSERT INTO artifactr_artifacts SELECT tenant_id, workspace_id, 'old' || n, n, 'note', false, '{}' FROM rows WHERE n <= 10000`,
  `INSERT INTO artifactr_proposals SELECT tenant_id, workspace_id, 'old' || n, n, 'pending', 'a', '{}' FROM rows WHERE n <= 10000`,
  `INSERT INTO artifactr_runs SELECT tenant_id, workspace_id, 'old' || n, n, 'old', 'running', '{}' FROM rows WHERE n <= 10000`,
  `INSERT INTO artifactr_commands SELECT tenant_id, workspace_id, 'user:ada', 'old' || n, '{}', n FROM rows WHERE n <= 10000`,
]

/** Runs a statement each time an event is inserted. */
const onEachEvent = async (url: string, statement: string): Promise<void> => {
  const body = `BEGIN ${statement}; RETURN NEW; END`
  await query(url, `CREATE FUNCTION meddle() RETURNS trigger LANGUAGE plpgsql AS $$ ${body} $$`)
  await query(
    url,
    'CREATE TRIGGER meddle BEFORE INSERT ON artifactr_events FOR EACH ROW EXECUTE FUNCTION meddle()',
  )
}

describePostgres('PostgreSQL', () => {
  test('two storages that post at once leave a log without a gap, and one of them wins each id', async () => {
    const url = await migratedDatabase()
    const one = await workspaceWithThread(opened(url).storage)
    const other = workspaceOf(opened(url).storage)
    const [a, b, same] = [ids(64, 'a'), ids(64, 'b'), ids(64, 'same')]
    const outcomes = await Promise.all([postAll(one, [...a, ...same]), postAll(other, [...same, ...b])])
    expect(tally(outcomes.flat())).toEqual({ posted: 192, 'already exists': 64 })
    expect((await messageIds(one)).sort()).toEqual([...a, ...b, ...same].sort())
  })

  test('a key is looked up by itself, however much there is and whatever the database knows of it', async () => {
    const fresh = await migratedDatabase()
    const { byKey, pages } = await use(opened(fresh))
    expect(byKey.length).toBeGreaterThan(5)
    expect((await effort(fresh, [...byKey, ...pages])).scanned).toEqual([])
    const full = await migratedDatabase()
    for (const statement of fill) await query(full, statement)
    expect((await effort(full, byKey)).pages).toBeLessThan(100)
    await query(full, 'ANALYZE')
    const analysed = await effort(full, [...byKey, ...pages])
    expect(analysed.scanned).toEqual([])
    expect(analysed.pages).toBeLessThan(100)
  })

  test('statements have few texts, however many ids they name and rows they write', async () => {
    const { storage, statements } = opened(await migratedDatabase())
    const workspace = await workspaceWithThread(storage)
    const texts = () => new Set(statements.map(({ text }) => text)).size
    await postAll(workspace, ids(10, 'some'))
    const before = texts()
    for (const count of [1, 2, 3, 30, 60]) await postAll(workspace, ids(count, `of${count}-`))
    expect(texts()).toBe(before)
    expect(before).toBeLessThan(8)
  })

  test('a database with a collation of its own compares ids exactly', async ({ skip }) => {
    const name = `artifactr_test_${randomUUID().replaceAll('-', '')}`
    const as = [
      "LOCALE_PROVIDER icu ICU_LOCALE 'en-US' LOCALE 'C'",
      "LOCALE 'en_US.UTF-8'",
      "LOCALE 'de_DE.UTF-8'",
    ]
    const create = async (locale: string) => {
      await query(postgresUrl(), `CREATE DATABASE ${name} TEMPLATE template0 ENCODING 'UTF8' ${locale}`)
    }
    const created = as.reduce((made, locale) => made.catch(() => create(locale)), Promise.reject<void>())
    await created.catch((error) => skip(`this server has no collation but C: ${error}`))
    onTestFinished(async () => void (await query(postgresUrl(), `DROP DATABASE ${name} WITH (FORCE)`)))
    const url = databaseUrl(postgresUrl(), name)
    await migrate(url)
    const workspace = await workspaceWithThread(opened(url).storage)
    const alike = [
      'a',
      'A',
      'a ',
      ' a',
      'á',
      'a\u0301',
      'ss',
      'ß',
      'i',
      'I',
      'ı',
      'İ',
      '１',
      '1',
      'ǆ',
      'dž',
      'a-b',
      'ab',
    ]
    expect(tally(await postAll(workspace, alike))).toEqual({ posted: alike.length })
    expect(await messageIds(workspace)).toEqual(alike)
    await expectKept(workspace, alike)
  })

  test("the server's time zone changes no timestamp", async () => {
    const url = await migratedDatabase()
    await query(
      postgresUrl(),
      `ALTER DATABASE ${new URL(url).pathname.slice(1)} SET timezone TO 'Asia/Kolkata'`,
    )
    const { storage } = opened(url)
    const workspace = await workspaceWithThread(storage)
    expect(await query(url, 'SHOW timezone')).toEqual([{ TimeZone: 'Asia/Kolkata' }])
    const began = Date.now()
    const { envelopes } = await workspace.commit(
      { type: 'post_message', threadId: 't1', messageId: 'm1', content: 'hello' },
      { commandId: 'c1' },
    )
    expect((await workspace.messages('t1', { limit: 1, from: 'end' })).entries).toEqual(envelopes)
    expect(Date.parse(envelopes[0]?.ts ?? '') - began).toBeGreaterThanOrEqual(0)
    expect(Date.now() - Date.parse(envelopes[0]?.ts ?? '')).toBeLessThan(60_000)
    await storage.acquireLease(scope, 'k', 'a', 600_000)
    const [lease] = await query(url, 'SELECT expires_at FROM artifactr_leases')
    const ttl = Number(lease?.['expires_at']) - Date.now()
    expect(ttl).toBeGreaterThan(500_000)
    expect(ttl).toBeLessThanOrEqual(601_000)
    expect(await storage.forgetCommands(workspace.scope, 600_000)).toBe(0)
  })

  test('a used id that the guard let pass is a fault, and never "already exists"', async () => {
    const url = await migratedDatabase()
    const workspace = await workspaceWithThread(opened(url).storage)
    await onEachEvent(
      url,
      `INSERT INTO artifactr_messages VALUES (NEW.tenant_id, NEW.workspace_id, NEW.envelope::json #>> '{event,message_id}')`,
    )
    await expect(post(workspace, 'm1')).rejects.toThrow(/artifactr_messages_pkey/)
    await query(url, 'DROP TRIGGER meddle ON artifactr_events')
    expect(await post(workspace, 'm1')).toBe('posted')
    await query(url, 'UPDATE artifactr_workspaces SET head_seq = head_seq - 1')
    await expect(post(workspace, 'm2')).rejects.toThrow(/artifactr_events_pkey/)
    await query(url, 'UPDATE artifactr_workspaces SET head_seq = head_seq + 1')
    expect(await post(workspace, 'm2')).toBe('posted')
    expect(await messageIds(workspace)).toEqual(['m1', 'm2'])
  })

  test('deadlocks and serialisation failures are tried again, for a while', async () => {
    for (const state of ['40P01', '40001']) {
      const url = await migratedDatabase()
      const workspace = await workspaceWithThread(opened(url).storage)
      const hasty = workspaceOf(opened(url, 300).storage)
      await query(url, 'CREATE SEQUENCE tries')
      const fail = `RAISE EXCEPTION 'said' USING ERRCODE = '${state}'`
      await onEachEvent(url, `IF nextval('tries') < 5 THEN ${fail}; END IF`)
      expect(await post(workspace, 'm1')).toBe('posted')
      expect(await query(url, 'SELECT last_value FROM tries')).toEqual([{ last_value: '5' }])
      await query(url, 'ALTER SEQUENCE tries RESTART MINVALUE -1000000 START -1000000')
      expect(await post(hasty, 'm2')).toBe('unavailable')
      expect(await messageIds(workspace)).toEqual(['m1'])
    }
  })
})
