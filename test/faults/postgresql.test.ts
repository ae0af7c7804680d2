/** PostgreSQL goes away, crashes, is slow, full, locked, or deadlocks, and gateways are killed and fail, while clients go on. */
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { type OwnServer, startPostgres } from '../support/embeddedPostgres.js'
import { until } from '../support/gateway.js'
import { admit, type Observed, type Strike, type Ward } from '../support/patients.js'
import { createMigratedDatabase, describePostgres, postgresUrl } from '../support/postgres.js'
import { type Proxy as DatabaseProxy, openProxy } from '../support/proxy.js'
import { openAdapter, query } from '../support/sql.js'

/** How long the database is lost, in milliseconds: longer than a client is left waiting. */
const OUTAGE = Number(process.env['FAULT_OUTAGE'] ?? 7_000)

const failing = fileURLToPath(new URL('../support/failing.mjs', import.meta.url))

const terminate = (database: string) =>
  query(
    postgresUrl(),
    `SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${new URL(database).pathname.slice(1)}'`,
  )

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

const lock = (workspaceId: string) =>
  `SELECT 1 FROM artifactr_workspaces WHERE workspace_id = '${workspaceId}' FOR UPDATE`

/** Writes to these tables fail so, at such odds, until it is undone. */
const failWrites = async (database: string, state: string, odds: number, tables: readonly string[]) => {
  await query(
    database,
    `CREATE OR REPLACE FUNCTION fail() RETURNS trigger AS $$ BEGIN
      IF random() < ${odds} THEN RAISE EXCEPTION 'told to fail' USING ERRCODE = '${state}'; END IF;
      RETURN NEW; END $$ LANGUAGE plpgsql`,
  )
  for (const table of tables)
    await query(
      database,
      `CREATE TRIGGER fail BEFORE INSERT ON ${table} FOR EACH ROW EXECUTE FUNCTION fail()`,
    )
  return async () => {
    for (const table of tables) await query(database, `DROP TRIGGER fail ON ${table}`)
  }
}

/** On the way to the database. */
const network = (proxy: DatabaseProxy) =>
  ({
    'the database is lost': async ({ load }) => {
      proxy.close()
      await pause(OUTAGE)
      expect(load.part.ready.at(-1)).toBe(503)
      await proxy.open()
    },
    'the database does not answer': async ({ load }) => {
      proxy.hold()
      await pause(OUTAGE)
      expect(load.part.ready.at(-1)).toBe(503)
      proxy.cut()
    },
    'the database is slow': async () => {
      proxy.delay(250)
      await pause(3_000)
      proxy.delay(0)
    },
  }) satisfies Record<string, Strike>

/** In the database. */
const inside = (database: string) =>
  ({
    'connections are terminated again and again': async ({ load }) => {
      for (let round = 0; round < 8; round++) {
        const before = load.part.posted
        await terminate(database)
        await until(20_000, 'the next posts', () => load.part.posted > before + 2 || null)
      }
    },
    'transactions of others deadlock, on rows that it writes, and its own do': async ({ load }) => {
      for (let round = 0; round < 3; round++) {
        // Each holds what the other asks for next.
        const quick = `SET LOCAL deadlock_timeout = '50ms'`
        const [one, two] = await Promise.all([
          held(database, 'BEGIN', quick, lock('w1')),
          held(database, 'BEGIN', quick, lock('w2')),
        ])
        const ends = await Promise.allSettled([one.run(lock('w2')), two.run(lock('w1'))])
        expect(ends.filter(({ status }) => status === 'rejected')).toHaveLength(1)
        await Promise.all([one.release(), two.release()])
      }
      const undo = await failWrites(database, '40P01', 0.5, ['artifactr_events'])
      const before = load.part.posted
      await until(20_000, 'posts in spite of it', () => load.part.posted > before + 10 || null)
      await undo()
    },
    // The server's own error where its disk is full, raised by a trigger: a full disk of its own is more than a test can ask for.
    'the disk of the database is full': async ({ load }) => {
      const undo = await failWrites(database, '53100', 1, ['artifactr_events', 'artifactr_leases'])
      await until(20_000, 'refused posts', () => load.part.failures['SERVICE_UNAVAILABLE'] ?? null)
      await until(5_000, 'it not to be ready', () => load.part.ready.at(-1) === 503 || null)
      await undo()
    },
  }) satisfies Record<string, Strike>

/** With one connection. */
const pool = (database: string) =>
  ({
    'the pool is exhausted by a lock that others hold': async () => {
      const { release } = await held(database, 'BEGIN', lock('w1'))
      await pause(OUTAGE)
      await release()
    },
  }) satisfies Record<string, Strike>

/** Of the processes themselves. */
const crashes = (server: OwnServer) =>
  ({
    'the server crashes and comes back': async () => {
      await server.crash()
      await pause(3_000)
      await server.start()
    },
    'the gateway is killed and started again': async ({ gateway, restart }) => {
      await gateway.kill('SIGKILL')
      await restart()
    },
    'a promise is rejected that nobody listens to': async ({ gateway, restart }) => {
      expect(await gateway.kill('SIGUSR2')).toEqual({ code: 1, signal: null })
      expect(gateway.log().some(({ level }) => level === 60)).toBe(true)
      await restart()
    },
  }) satisfies Record<string, Strike>

const onlyUnavailable = ({ failures }: Observed) =>
  expect(Object.keys(failures)).toEqual(['SERVICE_UNAVAILABLE'])

/** What is to be seen of each, besides that everything is whole in the end. */
const expected: Record<string, (observed: Observed) => void> = {
  'the database is lost': (observed) => {
    onlyUnavailable(observed)
    expect(observed).toMatchObject({ ready: [200, 503, 200], health: [200] })
    expect(observed.slowest).toBeLessThan(12_000)
  },
  'the database does not answer': (observed) => {
    onlyUnavailable(observed)
    expect(observed).toMatchObject({ ready: [200, 503, 200], health: [200] })
    expect(observed.slowest).toBeLessThan(25_000)
  },
  'the database is slow': ({ failures, health }) => {
    expect(failures).toEqual({})
    expect(health).toEqual([200])
  },
  'connections are terminated again and again': ({ health }) => expect(health).toEqual([200]),
  'transactions of others deadlock, on rows that it writes, and its own do': ({ failures, health }) => {
    expect(failures).toEqual({})
    expect(health).toEqual([200])
  },
  'the disk of the database is full': (observed) => {
    onlyUnavailable(observed)
    expect(observed).toMatchObject({ ready: [200, 503, 200], health: [200] })
  },
  'the pool is exhausted by a lock that others hold': (observed) => {
    onlyUnavailable(observed)
    expect(observed.health).toEqual([200])
  },
  'the server crashes and comes back': ({ ready, health }) => {
    expect(ready).toEqual([200, 503, 200])
    expect(health).toEqual([200])
  },
  'the gateway is killed and started again': ({ failures, ready }) => {
    expect(Object.keys(failures)).toEqual(expect.arrayContaining(['disconnected']))
    expect(ready.at(-1)).toBe(200)
  },
  'a promise is rejected that nobody listens to': ({ ready }) => {
    expect(ready).not.toHaveLength(1)
    expect(ready.at(-1)).toBe(200)
  },
}

describePostgres('whatever happens, no acknowledged message is lost or doubled', () => {
  const wards = new Map<string, Promise<Ward>>()
  const closing: (() => unknown)[] = []

  const admitted = async (env: Record<string, string>, strikes: Record<string, Strike>, database: string) => {
    const ward = admit({ env: { ...env, LOG_LEVEL: 'warn' }, database, strikes })
    closing.unshift(() => ward.end())
    return ward
  }

  const databaseOfItsOwn = async () => {
    const { url, drop } = await createMigratedDatabase()
    closing.push(drop)
    return url
  }

  const patients: Record<string, () => Promise<Ward>> = {
    network: async () => {
      const database = await databaseOfItsOwn()
      const proxy = await openProxy(database, 0, 'caller')
      closing.unshift(() => proxy.close())
      return admitted({ DATABASE_URL: proxy.url }, network(proxy), database)
    },
    inside: async () => {
      const DATABASE_URL = await databaseOfItsOwn()
      return admitted({ DATABASE_URL }, inside(DATABASE_URL), DATABASE_URL)
    },
    pool: async () => {
      const DATABASE_URL = await databaseOfItsOwn()
      return admitted({ DATABASE_URL, POOL_SIZE: '1' }, pool(DATABASE_URL), DATABASE_URL)
    },
    crashes: async () => {
      const server = await startPostgres(true)
      closing.push(() => server.stop())
      const env = { DATABASE_URL: server.url, NODE_OPTIONS: `--import ${failing}` }
      return admitted(env, crashes(server), server.url)
    },
  }

  // All at the same time, since most of it is waiting.
  beforeAll(() => {
    const only = process.env['FAULT_ONLY']?.split(',') ?? Object.keys(patients)
    for (const [name, begin] of Object.entries(patients)) if (only.includes(name)) wards.set(name, begin())
  })

  afterAll(async () => {
    for (const end of closing) await end()
  })

  const names = {
    network: ['the database is lost', 'the database does not answer', 'the database is slow'],
    inside: [
      'connections are terminated again and again',
      'transactions of others deadlock, on rows that it writes, and its own do',
      'the disk of the database is full',
    ],
    pool: ['the pool is exhausted by a lock that others hold'],
    crashes: [
      'the server crashes and comes back',
      'the gateway is killed and started again',
      'a promise is rejected that nobody listens to',
    ],
  }
  for (const [patient, faults] of Object.entries(names)) {
    test.each(faults)('%s', { timeout: 180_000 }, async (name) => {
      const ward = await wards.get(patient)
      const observed = await ward?.seen(name)
      if (observed === undefined) throw new Error('it was not begun')
      expected[name]?.(observed)
    })

    test(`the logs are whole after all of this: ${faults.join('; ')}`, { timeout: 180_000 }, async () => {
      await (await wards.get(patient))?.whole
    })
  }
})
