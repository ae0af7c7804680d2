/** How the process starts: beside others, and before its database. */
import { randomUUID } from 'node:crypto'
import { readdirSync } from 'node:fs'
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { WebSocket } from 'ws'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { emptyDatabases } from '../support/databases.js'
import { freePort } from '../support/embeddedPostgres.js'
import { type GatewayProcess, post, spawnGateway, startGateway, until } from '../support/gateway.js'
import { databaseUrl, describePostgres, migratedDatabase, postgresUrl } from '../support/postgres.js'
import { createThread } from '../support/posts.js'
import { openProxy } from '../support/proxy.js'
import { query } from '../support/sql.js'

const migrations = readdirSync('prisma/migrations/sqlite').filter((name) => /^\d{4}_/.test(name))

const migratedBy = (gateways: readonly GatewayProcess[]): unknown[] =>
  gateways.flatMap((gateway) => gateway.log().flatMap(({ migrations }) => migrations ?? []))

const waitsOf = (gateway: GatewayProcess) =>
  gateway.log().filter(({ msg }) => msg === 'the database cannot be used yet')

const endOf = async (gateway: GatewayProcess) => ({ ...(await gateway.exit), errors: gateway.errors() })

for (const [provider, emptyDatabase] of Object.entries(emptyDatabases))
  (provider === 'sqlite' ? describe : describePostgres)(`processes on one ${provider} database`, () => {
    test('six that start at once are all ready, though one is killed in the middle', async () => {
      const env = { DATABASE_URL: await emptyDatabase(), AGENT: 'none' }
      const victim = spawnGateway(env)
      const others = Promise.all(Array.from({ length: 5 }, () => startGateway(env)))
      await pause(400 + Math.random() * 600)
      await victim.kill('SIGKILL')
      const [first, ...rest] = await others
      // What the victim had finished it may not have lived to tell.
      const told = migratedBy([victim, ...(await others)])
      expect(told.length === 0 ? migrations : told).toEqual(migrations)
      await createThread(first?.url ?? '')
      for (const { url } of rest) {
        const { body } = await post(url, { query: '{ workspace(workspaceId: "w1") { events { seq } } }' })
        expect(body.data.workspace.events).toEqual([{ seq: 1 }])
      }
    }, 120_000)

    test.each(['auto', 'check'])(
      'one of an older version does not start with MIGRATE=%s',
      async (MIGRATE) => {
        const DATABASE_URL = await emptyDatabase()
        await migrate(DATABASE_URL)
        await query(
          DATABASE_URL,
          `INSERT INTO _prisma_migrations (id, checksum, finished_at, migration_name, started_at, applied_steps_count)
         SELECT 'later', checksum, finished_at, '9999_later', started_at, 1 FROM _prisma_migrations
         WHERE migration_name = '${migrations[0]}'`,
        )
        const { code, errors } = await endOf(spawnGateway({ DATABASE_URL, MIGRATE }))
        expect(code).toBe(1)
        expect(errors).toMatch(
          /^The gateway cannot start:\n {2}DATABASE_URL .*9999_later.* newer version.*\n$/,
        )
      },
    )
  })

describePostgres('a process whose database is not there yet', () => {
  test('tells the truth while it waits, and serves once the database is there', async () => {
    const url = await migratedDatabase()
    const port = await freePort()
    const missing = new URL(url)
    missing.host = `127.0.0.1:${port}`
    // A server that asks for no password takes any.
    if (missing.password === '') missing.password = 'secret'
    const PORT = String(await freePort())
    const gateway = spawnGateway({ DATABASE_URL: missing.href, PORT })
    const waits = () => waitsOf(gateway)
    await until(30_000, 'two tries', () => waits().length >= 2 || null)
    const at = `http://127.0.0.1:${PORT}`
    const ready = await fetch(`${at}/ready`)
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'starting' }])
    expect((await fetch(`${at}/health`)).status).toBe(200)
    expect(await post(at, { query: '{ viewer { tenantId } }' })).toMatchObject({
      status: 503,
      body: { errors: [{ extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true } }] },
    })
    const { headers } = await post(at, { query: '{ viewer { tenantId } }' })
    expect([headers.get('retry-after'), headers.get('x-content-type-options')]).toEqual(['1', 'nosniff'])
    const refused = new WebSocket(`ws://127.0.0.1:${PORT}/graphql`, 'graphql-transport-ws')
    expect(await new Promise((resolve) => refused.once('error', resolve))).toMatchObject({
      message: expect.stringContaining('503'),
    })
    await openProxy(url, port)
    await until(20_000, 'it to be ready', async () => (await fetch(`${at}/ready`)).status === 200 || null)
    await createThread(at)
    expect(waits()[0]?.['reason']).toContain(`127.0.0.1:${port}: nothing answers there`)
    expect(gateway.output() + gateway.errors()).not.toContain('secret')
  }, 90_000)

  test('waits for a database that is yet to be made, for so long and no longer', async () => {
    const name = `artifactr_late_${randomUUID().replaceAll('-', '')}`
    const env = { DATABASE_URL: databaseUrl(postgresUrl(), name) }
    const given = await endOf(spawnGateway({ ...env, START_TIMEOUT: '3000' }))
    expect(given.code).toBe(1)
    expect(given.errors).toMatch(
      new RegExp(`^The gateway cannot start:\\n {2}DATABASE_URL .*${name}.*after 3000 ms.*\\n$`),
    )
    const gateway = spawnGateway(env)
    await until(30_000, 'a try', () => waitsOf(gateway)[0] ?? null)
    await query(postgresUrl(), `CREATE DATABASE ${name}`)
    onTestFinished(async () => {
      await query(postgresUrl(), `DROP DATABASE ${name} WITH (FORCE)`)
    })
    await until(
      30_000,
      'it to serve',
      () => gateway.log().some(({ storage }) => storage === 'postgresql') || null,
    )
    expect(migratedBy([gateway])).toEqual(migrations)
  }, 90_000)

  test('does not try credentials again that are wrong', async () => {
    const url = new URL(postgresUrl())
    url.username = 'nobody_of_this_name'
    url.password = 'secret'
    const { code, errors } = await endOf(spawnGateway({ DATABASE_URL: url.href }))
    expect(code).toBe(1)
    expect(errors).toMatch(/^The gateway cannot start:\n {2}DATABASE_URL .*nobody_of_this_name.*\n$/)
    expect(errors).not.toContain('secret')
  })
})
