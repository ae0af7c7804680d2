/** What happens to PostgreSQL and to gateways on it, and what is to be seen of each. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { OwnServer } from '../support/embeddedPostgres.js'
import { until } from '../support/gateway.js'
import type { Load } from '../support/load.js'
import type { Fault, Observed } from '../support/patients.js'
import { postgresUrl } from '../support/postgres.js'
import type { Proxy as DatabaseProxy } from '../support/proxy.js'
import { openAdapter, query } from '../support/sql.js'

/** How long a database is away, in milliseconds: longer than a client is left waiting. */
const OUTAGE = Number(process.env['FAULT_OUTAGE'] ?? 6_500)

/** Lasts as long as the database is away, and until clients have heard of it. */
export const outage = async (load: Load): Promise<void> => {
  await pause(OUTAGE)
  await until(30_000, 'refused posts', () => load.part.failures['SERVICE_UNAVAILABLE'] ?? null)
  await until(30_000, 'it not to be ready', () => load.part.ready.at(-1) === 503 || null)
}

export const expectUnreadyMeanwhile = ({ failures, ready, health }: Observed): void => {
  expect(Object.keys(failures)).toEqual(['SERVICE_UNAVAILABLE'])
  expect([ready[0], ready.includes(503), ready.at(-1)]).toEqual([200, true, 200])
  expect(health).toEqual([200])
}

const expectUnnoticed = ({ failures, health }: Observed): void => {
  expect(failures).toEqual({})
  expect(health).toEqual([200])
}

export const expectBack = ({ failures, ready }: Observed): void => {
  expect(Object.keys(failures)).toEqual(expect.arrayContaining(['disconnected']))
  expect(ready.at(-1)).toBe(200)
}

/** On the way to the database. */
export const onTheWay = (proxy: () => DatabaseProxy): Record<string, Fault> => ({
  'the database does not answer': {
    strike: async ({ load }) => {
      proxy().hold()
      await outage(load)
      proxy().cut()
    },
    expected: (observed) => {
      expectUnreadyMeanwhile(observed)
      expect(observed.slowest).toBeLessThan(25_000)
    },
  },
  'the database is lost': {
    strike: async ({ load }) => {
      proxy().close()
      await outage(load)
      await proxy().open()
    },
    expected: (observed) => {
      expectUnreadyMeanwhile(observed)
      expect(observed.slowest).toBeLessThan(12_000)
    },
  },
  'the database is slow': {
    strike: async () => {
      proxy().delay(250)
      await pause(3_000)
      proxy().delay(0)
    },
    expected: expectUnnoticed,
  },
})

const lock = (workspaceId: string) =>
  `SELECT 1 FROM artifactr_workspaces WHERE workspace_id = '${workspaceId}' FOR UPDATE`

/** Statements on a connection of their own, which is then kept. */
const held = async (url: string, ...statements: string[]) => {
  const adapter = await openAdapter(url)
  const run = (sql: string) => adapter.queryRaw({ sql, args: [], argTypes: [] })
  for (const statement of statements) await run(statement)
  return {
    run,
    release: async () => {
      await run('ROLLBACK')
      await adapter.dispose()
    },
  }
}

/** Two transactions of others, of which each holds what the other asks for next. */
const deadlock = async (database: string): Promise<void> => {
  const quick = `SET LOCAL deadlock_timeout = '50ms'`
  const [one, two] = await Promise.all([
    held(database, 'BEGIN', quick, lock('w1')),
    held(database, 'BEGIN', quick, lock('w2')),
  ])
  const ends = await Promise.allSettled([one.run(lock('w2')), two.run(lock('w1'))])
  expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1)
  await Promise.all([one.release(), two.release()])
}

/** Statements that insert into these tables fail so, at such odds, until it is undone. */
const failWrites = async (database: string, state: string, odds: number, tables: readonly string[]) => {
  await query(
    database,
    `CREATE OR REPLACE FUNCTION fail() RETURNS trigger AS $$ BEGIN
      IF random() < ${odds} THEN RAISE EXCEPTION 'told to fail' USING ERRCODE = '${state}'; END IF;
      RETURN NULL; END $$ LANGUAGE plpgsql`,
  )
  for (const table of tables)
    await query(
      database,
      `CREATE TRIGGER fail BEFORE INSERT ON ${table} FOR EACH STATEMENT EXECUTE FUNCTION fail()`,
    )
  return async () => {
    for (const table of tables) await query(database, `DROP TRIGGER fail ON ${table}`)
  }
}

const terminate = (database: string) =>
  query(
    postgresUrl(),
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${new URL(database).pathname.slice(1)}'`,
  )

/** In the database. */
export const inside = (database: () => string): Record<string, Fault> => ({
  'connections are terminated again and again': {
    strike: async ({ load }) => {
      for (let round = 0; round < 8; round++) {
        const before = load.part.posted
        await terminate(database())
        await until(20_000, 'the next posts', () => load.part.posted > before + 2 || null)
      }
    },
    expected: ({ health }) => expect(health).toEqual([200]),
  },
  'others deadlock on rows that it writes, and its own writes do': {
    strike: async ({ load }) => {
      for (let round = 0; round < 3; round++) await deadlock(database())
      const undo = await failWrites(database(), '40P01', 0.5, ['artifactr_events'])
      const before = load.part.posted
      await until(20_000, 'posts in spite of it', () => load.part.posted > before + 10 || null)
      await undo()
    },
    expected: expectUnnoticed,
  },
  // The server's own error where its disk is full, raised by a trigger: a full disk of its own is more than a test can ask for.
  'the disk of the database is full': {
    strike: async ({ load }) => {
      const undo = await failWrites(database(), '53100', 1, ['artifactr_events', 'artifactr_leases'])
      await until(20_000, 'refused posts', () => load.part.failures['SERVICE_UNAVAILABLE'] ?? null)
      await until(30_000, 'it not to be ready', () => load.part.ready.at(-1) === 503 || null)
      await undo()
    },
    expected: expectUnreadyMeanwhile,
  },
})

/** With one connection. */
export const withOneConnection = (database: () => string): Record<string, Fault> => ({
  'the pool is exhausted by a lock that others hold': {
    strike: async ({ load }) => {
      const { release } = await held(database(), 'BEGIN', lock('w1'))
      await pause(OUTAGE)
      await until(30_000, 'refused posts', () => load.part.failures['SERVICE_UNAVAILABLE'] ?? null)
      await release()
    },
    expected: ({ failures, health }) => {
      expect(Object.keys(failures)).toEqual(['SERVICE_UNAVAILABLE'])
      expect(health).toEqual([200])
    },
  },
})

/** Of the processes themselves; a gateway has loaded `failing.mjs`. */
export const ofProcesses = (server: () => OwnServer): Record<string, Fault> => ({
  'the server crashes and comes back': {
    strike: async ({ load }) => {
      await server().crash()
      await pause(3_000)
      await until(30_000, 'it not to be ready', () => load.part.ready.at(-1) === 503 || null)
      await server().start()
    },
    expected: ({ ready, health }) => {
      expect([ready[0], ready.includes(503), ready.at(-1)]).toEqual([200, true, 200])
      expect(health).toEqual([200])
    },
  },
  'the gateway is killed and started again': {
    strike: async ({ gateway, restart }) => {
      await gateway.kill('SIGKILL')
      await restart()
    },
    expected: expectBack,
  },
  'the gateway is told to stop and started again': {
    strike: async ({ gateway, restart }) => {
      expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null })
      await restart()
    },
    expected: expectBack,
  },
  'a promise is rejected that nobody listens to': {
    strike: async ({ gateway, restart }) => {
      expect(await gateway.kill('SIGUSR2')).toEqual({ code: 1, signal: null })
      expect(gateway.log().some(({ level }) => level === 60)).toBe(true)
      await restart()
    },
    expected: expectBack,
  },
})
