/** Following a log on PostgreSQL: whatever is cut or lost, a subscriber has everything in the end, without waiting for another post. */
import { expect, onTestFinished, test } from 'vitest'
import type { Storage } from '../../src/storage/port.js'
import type { Dialect } from '../../src/storage/prisma/dialect.js'
import { openPrismaStorage, type PrismaStorageOptions } from '../../src/storage/prisma/open.js'
import { openPostgres } from '../../src/storage/prisma/postgresql.js'
import { PrismaStorage } from '../../src/storage/prisma/storage.js'
import { CHANNEL } from '../../src/storage/prisma/wake.js'
import { follow } from '../support/following.js'
import { describePostgres, migratedDatabase } from '../support/postgres.js'
import { ids, post, until, workspaceWithThread } from '../support/posting.js'
import { startPoster } from '../support/processes.js'
import { openProxy } from '../support/proxy.js'
import { query } from '../support/sql.js'

const open = async (url: string, options: Partial<PrismaStorageOptions> = {}): Promise<Storage> => {
  const storage = await openPrismaStorage({ url, poolSize: 5, ...options })
  onTestFinished(() => storage.close())
  return storage
}

/** A storage whose followers never look for themselves: what they have, they were told of. */
const openTold = (url: string, listenUrl: string): Storage => {
  const dialect = openPostgres({
    url,
    listenUrl,
    poolSize: 5,
    lockTimeout: 2_000,
    statementTimeout: 15_000,
    onConnectionError: () => undefined,
  })
  const openWakeUps: Dialect['openWakeUps'] = (woken) => ({
    ...dialect.openWakeUps(woken),
    pollInterval: Infinity,
  })
  const storage = new PrismaStorage({ ...dialect, openWakeUps }, { batch: 128, patience: 5_000 })
  onTestFinished(() => storage.close())
  return storage
}

const median = (times: readonly number[]): number =>
  times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)] ?? Number.NaN

const LISTENERS = `FROM pg_stat_activity WHERE application_name = 'artifactr-gateway-listener'
  AND datname = current_database()`

/** How many connections listen. Now and then they are asked whether they are still there. */
const listeners = async (url: string): Promise<number> => {
  const listening = `SELECT count(*) AS n ${LISTENERS} AND state = 'idle' AND query ~ '^(LISTEN|SELECT 1)'`
  return Number((await query(url, listening))[0]?.['n'])
}

/** Less than followers that hear of commits wait before they look for themselves, in milliseconds. */
const SOON = 1_500

describePostgres('following on PostgreSQL', () => {
  test('commits of another process are heard of in tens of milliseconds', async () => {
    const url = await migratedDatabase()
    const writer = await workspaceWithThread(await open(url))
    const reader = follow(await open(url))
    await reader.comeTo(1)
    await until(async () => (await listeners(url)) === 1)
    const commits: number[] = []
    const delays: number[] = []
    for (const [index, id] of ids(60).entries()) {
      const began = performance.now()
      await post(writer, id)
      const committed = performance.now()
      await reader.comeTo(index + 2)
      commits.push(committed - began)
      delays.push((reader.times.at(-1) ?? Number.POSITIVE_INFINITY) - committed)
    }
    console.log(`median delay from commit to delivery: ${median(delays).toFixed(1)} ms`)
    // Where commits themselves take long, so may what follows them.
    expect(median(delays)).toBeLessThan(Math.max(100, 5 * median(commits)))
  })

  test('readers have everything in order after all connections were cut, again and again, while another process posts', async () => {
    const url = await migratedDatabase()
    const proxy = await openProxy(url)
    await workspaceWithThread(await open(url))
    const mine = await open(proxy.url)
    const readers = [follow(mine), follow(mine, 1)]
    await readers[0]?.comeTo(1)
    const poster = await startPoster(url, ids(2_000), 8)
    poster.start()
    for (const share of [300, 900, 1_500]) {
      await until(() => poster.said.length >= share)
      proxy.cut()
    }
    await poster.ended
    expect(poster.said.filter(([, outcome]) => outcome === 'posted')).toHaveLength(2_000)
    for (const reader of readers) await reader.comeTo(2_001)
  }, 90_000)

  test('a reader catches up by itself with what was committed while it could not reach the database', async () => {
    const url = await migratedDatabase()
    const proxy = await openProxy(url)
    const writer = await workspaceWithThread(await open(url))
    const reader = follow(await open(proxy.url, { patience: 300 }))
    await reader.comeTo(1)
    await until(async () => (await listeners(url)) === 1)
    proxy.hold()
    await post(writer, 'm1')
    proxy.cut()
    await reader.comeTo(2)
  })

  test('a reader is told at once of what was committed while the listening connection was cut', async () => {
    const url = await migratedDatabase()
    const way = await openProxy(url)
    const writer = await workspaceWithThread(await open(url))
    const reader = follow(openTold(url, way.url))
    await reader.comeTo(1)
    for (const [index, id] of ids(3).entries()) {
      await until(async () => (await listeners(url)) === 1)
      way.close()
      await post(writer, id)
      await way.open()
      await reader.comeTo(index + 2)
    }
  })

  test('a reader finds out by itself where a notification is lost', async () => {
    const url = await migratedDatabase()
    const deaf = await openProxy(url)
    const writer = await workspaceWithThread(await open(url))
    const reader = follow(await open(url, { listenUrl: deaf.url }))
    await reader.comeTo(1)
    await until(async () => (await listeners(url)) === 1)
    deaf.hold()
    await post(writer, 'm1')
    await reader.comeTo(2)
  })

  test('a reader does without a connection to listen on', async () => {
    const url = await migratedDatabase()
    const writer = await workspaceWithThread(await open(url))
    const reader = follow(await open(url, { listenUrl: 'postgresql://nobody:x@127.0.0.1:1/none' }))
    await reader.comeTo(1)
    const delays: number[] = []
    for (const [index, id] of ids(5).entries()) {
      await post(writer, id)
      const committed = performance.now()
      await reader.comeTo(index + 2)
      delays.push((reader.times.at(-1) ?? Number.POSITIVE_INFINITY) - committed)
    }
    expect(median(delays)).toBeLessThan(SOON)
  })

  test('notifications carry scopes and nothing else, fit whatever the ids are, and go together', async () => {
    const url = await migratedDatabase()
    const storage = await open(url)
    const { Client } = await import('pg')
    const client = new Client({ connectionString: url })
    await client.connect()
    onTestFinished(() => client.end())
    const payloads: string[] = []
    client.on('notification', ({ payload }) => payloads.push(payload ?? ''))
    await client.query(`LISTEN ${CHANNEL}`)
    const longest = '"'.repeat(255)
    const workspace = await workspaceWithThread(storage, longest)
    await post(workspace, 'm1', 'confidential'.repeat(5_000))
    await Promise.all(ids(200, 'n').map((id) => post(workspace, id)))
    // Ends when everything was told; what is told after it is heard after it.
    await storage.close()
    await client.query(`NOTIFY ${CHANNEL}, 'the end'`)
    await until(() => payloads.at(-1) === 'the end')
    payloads.pop()
    expect(payloads.length).toBeGreaterThan(1)
    for (const payload of payloads) {
      expect(JSON.parse(payload.slice(8))).toEqual(['acme', longest])
      expect(Buffer.byteLength(payload)).toBeLessThan(1_100)
    }
    expect(payloads.length).toBeLessThan(100)
  })

  test('a process has one connection that listens however many subscribe, none before, and none after', async () => {
    const url = await migratedDatabase()
    const storage = await openPrismaStorage({ url, poolSize: 5 })
    await workspaceWithThread(storage)
    expect(await listeners(url)).toBe(0)
    const readers = [
      ...Array.from({ length: 20 }, () => follow(storage)),
      follow(storage, 0, { where: { tenantId: 'acme', workspaceId: 'w2' } }),
    ]
    await Promise.all(readers.slice(0, 20).map((reader) => reader.comeTo(1)))
    await until(async () => (await listeners(url)) === 1)
    for (const reader of readers) await reader.stop()
    expect(await listeners(url)).toBe(1)
    await storage.close()
    await until(async () => (await listeners(url)) === 0)
  })

  test('a notification that cannot be told of harms no commit', async () => {
    const url = await migratedDatabase()
    const proxy = await openProxy(url)
    const workspace = await workspaceWithThread(await open(proxy.url))
    const reader = follow(await open(url))
    await reader.comeTo(1)
    // Of the statement, which the connection knows by a name, only what it is given goes over it again.
    proxy.swallowAnswerTo(CHANNEL)
    expect(await post(workspace, 'm1')).toBe('posted')
    expect(await post(workspace, 'm2')).toBe('posted')
    await reader.comeTo(3)
    await until(() => proxy.swallowed === 1)
  })
})
