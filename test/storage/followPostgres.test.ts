/** Following a log on PostgreSQL: whatever is cut or lost, a subscriber has everything in the end, without waiting for another post. */
import { expect, onTestFinished, test } from 'vitest'
import type { Storage } from '../../src/storage/port.js'
import { openPrismaStorage, type PrismaStorageOptions } from '../../src/storage/prisma/open.js'
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

const LISTENERS = `FROM pg_stat_activity WHERE application_name = 'artifactr-gateway-listener'
  AND datname = current_database()`

const listeners = async (url: string): Promise<number> =>
  Number((await query(url, `SELECT count(*) AS n ${LISTENERS} AND query LIKE 'LISTEN%'`))[0]?.['n'])

/** Less than followers wait before they look for themselves, in milliseconds. */
const AT_ONCE = 1_500

describePostgres('following on PostgreSQL', () => {
  test('commits of another process are heard of in tens of milliseconds', async () => {
    const url = await migratedDatabase()
    const writer = await workspaceWithThread(await open(url))
    const reader = follow(await open(url))
    await reader.comeTo(1)
    await until(async () => (await listeners(url)) === 1)
    const delays: number[] = []
    for (const [index, id] of ids(60).entries()) {
      await post(writer, id)
      const committed = performance.now()
      await reader.comeTo(index + 2)
      delays.push((reader.times.at(-1) ?? Number.POSITIVE_INFINITY) - committed)
    }
    const median = delays.sort((a, b) => a - b)[30]
    console.log(`median delay from commit to delivery: ${median?.toFixed(1)} ms`)
    expect(median).toBeLessThan(100)
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
  })

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
    const writer = await workspaceWithThread(await open(url))
    const reader = follow(await open(url))
    await reader.comeTo(1)
    await until(async () => (await listeners(url)) === 1)
    for (const [index, id] of ids(3).entries()) {
      await query(url, `SELECT pg_terminate_backend(pid) ${LISTENERS}`)
      await post(writer, id)
      await reader.comeTo(index + 2, AT_ONCE)
      await until(async () => (await listeners(url)) === 1)
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
    await reader.comeTo(2, 6_000)
  })

  test('a reader does without a connection to listen on', async () => {
    const url = await migratedDatabase()
    const writer = await workspaceWithThread(await open(url))
    const reader = follow(await open(url, { listenUrl: 'postgresql://nobody:x@127.0.0.1:1/none' }))
    await reader.comeTo(1)
    await post(writer, 'm1')
    await reader.comeTo(2, AT_ONCE)
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
    await until(() => payloads.length >= 2)
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
    await storage.close()
    await until(async () => (await listeners(url)) === 0)
  })

  test('a notification that cannot be told of harms no commit', async () => {
    const url = await migratedDatabase()
    const proxy = await openProxy(url)
    const workspace = await workspaceWithThread(await open(proxy.url))
    const reader = follow(await open(url))
    await reader.comeTo(1)
    proxy.swallowAnswerTo('pg_notify')
    expect(await post(workspace, 'm1')).toBe('posted')
    expect(await post(workspace, 'm2')).toBe('posted')
    await reader.comeTo(3)
  })
})
