/** What PostgreSQL and the way to it may do to the gateway: end, refuse and keep connections, go away, hold rows. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect, onTestFinished, test } from 'vitest'
import { StorageUnavailable } from '../../src/storage/port.js'
import { raw as rawSql } from '../../src/storage/prisma/dialect.js'
import { openPostgres } from '../../src/storage/prisma/postgresql.js'
import { PrismaStorage } from '../../src/storage/prisma/storage.js'
import { hold } from '../support/held.js'
import { describePostgres, migratedDatabase, postgresUrl } from '../support/postgres.js'
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
import { openProxy } from '../support/proxy.js'
import { query } from '../support/sql.js'

const opened = (url: string, { patience = 5_000, lockTimeout = 200, statementTimeout = 10_000 } = {}) => {
  const broken: Error[] = []
  const onConnectionError = (error: Error) => void broken.push(error)
  const dialect = openPostgres({ url, poolSize: 3, lockTimeout, statementTimeout, onConnectionError })
  const storage = new PrismaStorage(dialect, { batch: 128, patience })
  onTestFinished(() => storage.close())
  return { storage, broken, dialect }
}

const nameOf = (url: string): string => new URL(url).pathname.slice(1)

/** Ends every connection to the database, and says how many there were. */
const terminate = async (url: string): Promise<number> => {
  const rows = await query(
    postgresUrl(),
    `SELECT pid, pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '${nameOf(url)}'`,
  )
  return rows.length
}

describePostgres('PostgreSQL', () => {
  test('connections that are ended while idle are replaced, and the next post works', async () => {
    const url = await migratedDatabase()
    const { storage, broken } = opened(url)
    const workspace = await workspaceWithThread(storage)
    await Promise.all(ids(20).map(() => workspace.head()))
    expect(await terminate(url)).toBeGreaterThan(1)
    expect(await post(workspace, 'm1')).toBe('posted')
    await until(() => broken.length > 0)
    expect(await post(workspace, 'm2')).toBe('posted')
    expect(await messageIds(workspace)).toEqual(['m1', 'm2'])
  })

  test('connections that are ended under load lose no acknowledged message and double none', async () => {
    const url = await migratedDatabase()
    const { storage } = opened(url)
    const workspace = await workspaceWithThread(storage)
    let isOver = false
    const acknowledged: string[] = []
    const load = ids(16).map(async (id) => {
      for (let n = 0; !isOver; n++) {
        // A post whose connection ended is tried again within: nobody is told that it is there already.
        expect(await post(workspace, `${id}-${n}`)).toBe('posted')
        acknowledged.push(`${id}-${n}`)
      }
    })
    for (let round = 0; round < 15; round++) {
      const before = acknowledged.length
      await terminate(url)
      await until(() => acknowledged.length > before)
    }
    isOver = true
    await Promise.all(load)
    expect((await messageIds(workspace)).sort()).toEqual([...acknowledged].sort())
    await expectKept(workspace, acknowledged)
  })

  test('a write that was carried out although its connection ended is reported as done', async () => {
    const proxy = await openProxy(await migratedDatabase())
    const workspace = await workspaceWithThread(opened(proxy.url).storage)
    proxy.swallowAnswerTo('lost in the post')
    expect(await post(workspace, 'm1', 'lost in the post')).toBe('posted')
    expect(proxy.swallowed).toBe(1)
    expect(await post(workspace, 'm1', 'lost in the post')).toBe('already exists')
    expect(await messageIds(workspace)).toEqual(['m1'])
  })

  test('it is reported as done even when others have committed before it is looked for', async () => {
    const direct = await migratedDatabase()
    const proxy = await openProxy(direct)
    const workspace = await workspaceWithThread(opened(proxy.url).storage)
    const other = opened(direct).storage
    proxy.swallowAnswerTo('lost in the post', async () => {
      await workspaceWithThread(other, 'another')
      await other.transaction(workspace.scope, async (transaction) => {
        await transaction.remember({ participant: 'user:bob', commandId: 'c1' }, '{}')
      })
    })
    expect(await post(workspace, 'm1', 'lost in the post')).toBe('posted')
    expect(proxy.swallowed).toBe(1)
    expect(await messageIds(workspace)).toEqual(['m1'])
  })

  test('a read whose connection ended is made again', async () => {
    const proxy = await openProxy(await migratedDatabase())
    const workspace = await workspaceWithThread(opened(proxy.url).storage)
    proxy.swallowAnswerTo('lost in the post')
    const { messages } = await workspace.load({ messages: ['lost in the post'] })
    expect(proxy.swallowed).toBe(1)
    expect([...messages]).toEqual([['lost in the post', false]])
  })

  test('a server that is gone for a while is waited for, and one that stays away is unavailable', async () => {
    const url = await migratedDatabase()
    const hasty = await workspaceWithThread(opened(url, { patience: 700 }).storage)
    const patient = workspaceOf(opened(url, { patience: 20_000 }).storage)
    const allow = (allowed: boolean) =>
      query(postgresUrl(), `ALTER DATABASE ${nameOf(url)} ALLOW_CONNECTIONS ${allowed}`)
    await allow(false)
    await terminate(url)
    const waiting = postAll(patient, ids(10, 'waiting'))
    expect(tally(await postAll(hasty, ids(10, 'gone')))).toEqual({ unavailable: 10 })
    await expect(hasty.head()).rejects.toThrow(StorageUnavailable)
    await allow(true)
    expect(tally(await waiting)).toEqual({ posted: 10 })
    expect((await messageIds(patient)).sort()).toEqual(ids(10, 'waiting').sort())
  })

  test('a server that stops answering is given up, and found again when it answers', async () => {
    const { url, hold, cut } = await openProxy(await migratedDatabase())
    const { storage } = opened(url, { patience: 500, statementTimeout: 2_000 })
    const workspace = await workspaceWithThread(storage)
    hold()
    const began = Date.now()
    expect(tally(await postAll(workspace, ids(10, 'lost')))).toEqual({ unavailable: 10 })
    expect(Date.now() - began).toBeLessThan(20_000)
    cut()
    await until(async () => (await post(workspace, 'm1')) !== 'unavailable')
    await expectKept(workspace, ['m1'])
  })

  test('whoever waits behind a write that hangs hears when the time is up, and not when the write ends', async () => {
    const { url, hold } = await openProxy(await migratedDatabase())
    const { storage } = opened(url, { patience: 400, statementTimeout: 3_000 })
    const workspace = await workspaceWithThread(storage)
    hold()
    let isOver = false
    const first = post(workspace, 'first').finally(() => {
      isOver = true
    })
    await pause(50)
    expect(tally(await postAll(workspace, ids(10)))).toEqual({ unavailable: 10 })
    expect(isOver).toBe(false)
    expect(await first).toBe('unavailable')
  })

  test('what is told of a connection that broke holds nothing that was sent on it', async () => {
    const url = await migratedDatabase()
    const { storage, broken } = opened(url)
    const workspace = await workspaceWithThread(storage)
    await post(workspace, 'm1', 'a secret')
    await terminate(url)
    await until(() => broken.length > 0)
    expect(broken.flatMap((error) => Object.keys(error))).toEqual([])
  })

  test('a workspace whose row is locked by somebody else does not hold up the others', async () => {
    const url = await migratedDatabase()
    const { storage } = opened(url, { patience: 5_000, lockTimeout: 5_000 })
    const locked = await workspaceWithThread(storage, 'locked')
    const others = await Promise.all(['a', 'b', 'c', 'd'].map((id) => workspaceWithThread(storage, id)))
    const release = await hold(
      url,
      'BEGIN',
      `SELECT * FROM artifactr_workspaces WHERE workspace_id = 'locked' FOR UPDATE`,
    )
    let isOver = false
    const stuck = postAll(locked, ids(64)).finally(() => {
      isOver = true
    })
    let slowest = 0
    const load = others.map(async (workspace) => {
      for (let n = 0; !isOver; n++) {
        const began = performance.now()
        expect(await post(workspace, `m${n}`)).toBe('posted')
        slowest = Math.max(slowest, performance.now() - began)
        await pause(1)
      }
    })
    expect(tally(await stuck)).toEqual({ unavailable: 64 })
    await Promise.all(load)
    // Who is held up waits for about as long as the lock is waited for.
    expect(slowest).toBeLessThan(2_500)
    await release()
    expect(await messageIds(locked)).toEqual([])
    expect(tally(await postAll(locked, ids(64)))).toEqual({ posted: 64 })
  })

  test('what PostgreSQL, the driver and Prisma report of a database out of reach is known as that', async () => {
    const url = await migratedDatabase()
    const { dialect } = opened(url)
    const at = (parts: Partial<URL>): string => Object.assign(new URL(url), parts).href
    const { url: silent, hold: keepSilent } = await openProxy(url)
    keepSilent()
    const unreachable: Record<string, string> = {
      'a port nobody listens on': at({ port: '1' }),
      'a host that does not exist': at({ hostname: 'no.such.host.invalid' }),
      'a socket that does not exist': at({ search: '?host=/no/such/directory' }),
      'a database that does not exist': at({ pathname: '/nope' }),
      'a role that does not exist': at({ username: 'nobody' }),
      'a server that does not answer': silent,
    }
    for (const [what, url] of Object.entries(unreachable)) {
      const { storage } = opened(url, { patience: 0, statementTimeout: 100 })
      await expect(storage.ping(), what).rejects.toThrow(StorageUnavailable)
    }
    const meaning = async (state: string) => {
      const body = `BEGIN RAISE EXCEPTION 'said' USING ERRCODE = '${state}'; END`
      const error: unknown = await dialect.execute(rawSql(`DO $$ ${body} $$`)).catch((error) => error)
      return dialect.trouble(error)
    }
    for (const state of ['40001', '40P01']) expect([state, await meaning(state)]).toEqual([state, 'conflict'])
    for (const state of ['08006', '25006', '53100', '53300', '55P03', '57014', '57P01', '57P03', '58030'])
      expect([state, await meaning(state)]).toEqual([state, 'unavailable'])
    for (const state of ['22P02', '23505', '42P01', '42501', 'P0001', 'XX000'])
      expect([state, await meaning(state)]).toEqual([state, 'fault'])
  })
})
