/** The migrations, on both databases: from empty, one at a time, and through what goes wrong. */
import { createHash, randomUUID } from 'node:crypto'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { describe, expect, onTestFinished, test } from 'vitest'
import { MigrationFailed, migrate, pendingMigrations } from '../../src/storage/prisma/migrate.js'
import { emptyDatabases } from '../support/databases.js'
import { until } from '../support/gateway.js'
import { hold } from '../support/held.js'
import { logEvents } from '../support/log.js'
import { startMigrating } from '../support/migrateProcess.js'
import { databaseUrl, describePostgres, postgresUrl } from '../support/postgres.js'
import { query, withSql } from '../support/sql.js'
import { temporaryDirectory } from '../support/tmp.js'

const all = readdirSync('prisma/migrations/sqlite').filter((name) => /^\d{4}_/.test(name))
const last = all.at(-1)

for (const [provider, emptyDatabase] of Object.entries(emptyDatabases))
  (provider === 'sqlite' ? describe : describePostgres)(`on ${provider}`, () => {
    test('an empty database is migrated from the first to the last, once', async () => {
      const url = await emptyDatabase()
      expect(await pendingMigrations(url)).toEqual(all)
      expect(await migrate(url)).toEqual(all)
      expect(await pendingMigrations(url)).toEqual([])
      expect(await migrate(url)).toEqual([])
    })

    test('asking what is pending changes nothing', async () => {
      const url = await emptyDatabase()
      await migrate(url, { upTo: '0002_event_scopes' })
      expect(await pendingMigrations(url)).toEqual(all.slice(2))
      expect(await pendingMigrations(url)).toEqual(all.slice(2))
    })

    test('the books hold what prisma migrate would have written', async () => {
      const url = await emptyDatabase()
      await migrate(url)
      const books = await query(
        url,
        `SELECT migration_name, checksum, applied_steps_count, logs, rolled_back_at FROM _prisma_migrations
         WHERE finished_at IS NOT NULL ORDER BY migration_name`,
      )
      expect(books).toEqual(
        all.map((name) => ({
          migration_name: name,
          checksum: createHash('sha256')
            .update(readFileSync(`prisma/migrations/${provider}/${name}/migration.sql`))
            .digest('hex'),
          applied_steps_count: 1,
          logs: null,
          rolled_back_at: null,
        })),
      )
    })

    test('eight that start at once in one process take turns, and one of them migrates', async () => {
      const url = await emptyDatabase()
      const applied = await Promise.all(Array.from({ length: 8 }, () => migrate(url)))
      expect(applied.flat()).toEqual(all)
    }, 90_000)

    test('eight processes that start at once take turns, one migrates, and none says a word', async () => {
      const url = await emptyDatabase()
      const ends = await Promise.all(Array.from({ length: 8 }, () => startMigrating(url).end))
      expect(ends.map(({ stderr }) => stderr).join('')).toBe('')
      expect(ends.flatMap(({ stdout }) => JSON.parse(stdout))).toEqual(all)
    }, 120_000)

    test('a migration that fails changes nothing, says which and why, and is applied once its cause is gone', async () => {
      const url = await emptyDatabase()
      await migrate(url, { upTo: '0001_initial' })
      await logEvents(url, [{ envelope: 'not JSON' }])
      const failure = await migrate(url).catch((error: unknown) => error)
      expect(failure).toBeInstanceOf(MigrationFailed)
      expect(failure).toMatchObject({
        problem: 'failed',
        message: expect.stringMatching(
          /^migration 0002_event_scopes failed and nothing was changed: .*json/i,
        ),
      })
      expect(await pendingMigrations(url)).toEqual(all.slice(1))
      await query(url, `UPDATE artifactr_events SET envelope = '{}'`)
      expect(await migrate(url)).toEqual(all.slice(1))
    })

    test('a database of a newer version is refused', async () => {
      const url = await emptyDatabase()
      await migrate(url)
      await query(
        url,
        `UPDATE _prisma_migrations SET migration_name = '0009_later' WHERE migration_name = '${last}'`,
      )
      const refusal = { problem: 'unknown', message: expect.stringContaining('0009_later') }
      await expect(migrate(url)).rejects.toMatchObject(refusal)
      await expect(pendingMigrations(url)).rejects.toMatchObject(refusal)
    })

    test('a database that an edited migration made is refused', async () => {
      const url = await emptyDatabase()
      await migrate(url)
      await query(url, `UPDATE _prisma_migrations SET checksum = 'other' WHERE migration_name = '${all[1]}'`)
      const refusal = { problem: 'edited', message: expect.stringContaining('0002_event_scopes') }
      await expect(migrate(url)).rejects.toMatchObject(refusal)
      await expect(pendingMigrations(url)).rejects.toMatchObject(refusal)
    })

    test('a migration that another tool left half done is refused', async () => {
      const url = await emptyDatabase()
      await migrate(url)
      await query(url, `UPDATE _prisma_migrations SET finished_at = NULL WHERE migration_name = '${last}'`)
      await expect(migrate(url)).rejects.toMatchObject({
        problem: 'unfinished',
        message: expect.stringContaining(String(last)),
      })
    })

    test('a database with tables of unknown origin is refused and left as it is', async () => {
      const url = await emptyDatabase()
      await migrate(url)
      await query(url, 'DROP TABLE _prisma_migrations')
      await expect(migrate(url)).rejects.toMatchObject({ problem: 'occupied' })
      await expect(query(url, 'SELECT * FROM _prisma_migrations')).rejects.toThrow()
    })
  })

describe('SQLite files', () => {
  test('a file that others have open in WAL mode is migrated under their eyes', async () => {
    const url = await emptyDatabases.sqlite()
    await migrate(url, { upTo: '0001_initial' })
    await withSql(url, async (sql) => {
      await sql('PRAGMA journal_mode = WAL')
      await sql('SELECT * FROM artifactr_events')
      expect(await migrate(url)).toEqual(all.slice(1))
      expect(await sql('SELECT type FROM artifactr_events')).toEqual([])
    })
  })

  test('what is not a database, and where no file can be, is named in one line', async () => {
    const file = path.join(temporaryDirectory(), 'plain.txt')
    writeFileSync(file, 'this is no database, and it is long enough to have been one. '.repeat(100))
    for (const url of [`file:${file}`, `file:${file}/below/a.db`]) {
      const refusal = await migrate(url).catch((error: unknown) => error)
      expect(refusal).toMatchObject({
        problem: 'unreachable',
        message: expect.stringMatching(/^cannot use the database \S+plain\.txt.*: .+$/),
      })
    }
  })
})

describePostgres('PostgreSQL servers', () => {
  test('names and passwords with every kind of character are understood when percent-encoded', async () => {
    const own = randomUUID()
    const [name, role, password] = [`a b%é ${own}`, `r@o:l/e ${own}`, 'p@ss:w/o%r?d#é']
    const admin = postgresUrl()
    await query(admin, `CREATE ROLE "${role}" LOGIN PASSWORD '${password}'`)
    onTestFinished(async () => {
      await query(admin, `DROP DATABASE IF EXISTS "${name}" WITH (FORCE)`)
      await query(admin, `DROP ROLE "${role}"`)
    })
    await query(admin, `CREATE DATABASE "${name}" OWNER "${role}"`)
    const url = new URL(databaseUrl(admin, encodeURIComponent(name)))
    url.username = encodeURIComponent(role)
    url.password = encodeURIComponent(password)
    expect(await migrate(url.href)).toEqual(all)
  })

  test('limits meant for requests do not cut a migration short', async () => {
    const url = await emptyDatabases.postgresql()
    const name = new URL(url).pathname.slice(1)
    await migrate(url, { upTo: '0001_initial' })
    const release = await hold(url, 'BEGIN', 'LOCK TABLE artifactr_events IN ACCESS EXCLUSIVE MODE')
    for (const limit of ['statement_timeout', 'lock_timeout'])
      await query(url, `ALTER DATABASE ${name} SET ${limit} = 1000`)
    const migrating = migrate(url).catch((error: unknown) => error)
    const late = `SELECT 1 FROM pg_stat_activity WHERE datname = '${name}' AND wait_event_type = 'Lock'
      AND query_start < clock_timestamp() - interval '1500 ms'`
    await until(20_000, 'a migration that takes longer than it may', async () => {
      const rows = await query(postgresUrl(), late)
      return rows.length > 0 || null
    })
    await release()
    expect(await migrating).toEqual(all.slice(1))
  })

  test('a server that cannot be reached or has no such database is named in one line without the password', async () => {
    const missing = new URL(databaseUrl(postgresUrl(), 'no_such_database'))
    for (const url of ['postgresql://user:secret@127.0.0.1:1/db', missing.href]) {
      const refusal = await migrate(url).catch((error: unknown) => error)
      expect(refusal).toMatchObject({
        problem: 'unreachable',
        message: expect.stringMatching(/^cannot use the database \w+ at 127\.0\.0\.1:\d+: .+$/),
      })
      expect(String(refusal)).not.toContain('secret')
    }
  })
})
