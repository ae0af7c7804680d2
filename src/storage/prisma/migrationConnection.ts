/**
 * The one connection a migration runs on, inside the transaction that makes it whole and keeps others out.
 *
 * Prisma's pools would hand out a new connection, outside the transaction, when the first is lost in between:
 * this one never does.
 */
import { mkdir } from 'node:fs/promises'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaPg } from '@prisma/adapter-pg'
import { DriverAdapterError, type SqlDriverAdapter, type SqlQueryable } from '@prisma/driver-adapter-utils'
import { driverError } from './errors.js'
import { adapterOn, type Provider } from './schemaEngine.js'

export interface Connection {
  readonly provider: Provider
  readonly adapter: SqlDriverAdapter
  /** The script that failed on this connection and how, if one did. */
  readonly failure: { script: string; error: unknown } | null
  /** Whether `_prisma_migrations` exists. */
  hasBooks(): Promise<boolean>
  commit(): Promise<void>
  /** Gives up what was not committed. */
  close(): Promise<void>
}

/** The lock of Prisma's own command line, so that it and we take turns too. */
const advisoryLock = 72_707_369
/** How long to wait for a server to answer, in milliseconds. */
const connectTimeout = 10_000
/** How long others may hold a SQLite file, in milliseconds. */
const sqlitePatience = 120_000

export function providerOf(url: string): Provider {
  if (url.startsWith('file:')) return 'sqlite'
  if (/^postgres(ql)?:\/\//.test(url)) return 'postgresql'
  throw new TypeError('a database URL begins with file: or postgresql://')
}

/** The file that a `file:` URL names; relative ones start at the working directory. */
export function sqlitePath(url: string): string {
  return path.resolve(url.replace(/^file:/, '').replace(/\?.*$/, ''))
}

/**
 * `exclusive`: a transaction that only one such connection in the world has at a time; waits for its turn.
 * `shared`: to read with.
 */
export function connect(url: string, access: 'exclusive' | 'shared'): Promise<Connection> {
  return providerOf(url) === 'sqlite'
    ? connectSqlite(sqlitePath(url), access === 'exclusive')
    : connectPostgres(url, access === 'exclusive')
}

async function connectPostgres(url: string, exclusive: boolean): Promise<Connection> {
  const pool = await new PrismaPg({
    connectionString: url,
    max: 1,
    connectionTimeoutMillis: connectTimeout,
  }).connect()
  try {
    const transaction = await pool.startTransaction()
    const run = (sql: string) => transaction.executeRaw({ sql, args: [], argTypes: [] })
    // Limits meant for requests would cut short a wait for another process, or the migration of a large log.
    const turn = `SET LOCAL statement_timeout = 0; SET LOCAL lock_timeout = 0; SELECT pg_advisory_xact_lock(${advisoryLock})`
    if (exclusive)
      await run(turn).catch(async (error: unknown) => {
        await transaction.rollback()
        throw error
      })
    return connectionOf(
      'postgresql',
      transaction,
      async (script) => {
        await run(script)
      },
      async () => {
        await run('ROLLBACK').catch(() => undefined)
        await transaction.rollback()
        await pool.dispose()
      },
    )
  } catch (error) {
    await pool.dispose()
    throw error
  }
}

async function connectSqlite(file: string, exclusive: boolean): Promise<Connection> {
  await mkdir(path.dirname(file), { recursive: true })
  // SQLite waits by blocking the thread, on which the one waited for may have to go on: so it does not wait while we do.
  const driver = await new PrismaBetterSqlite3({
    url: `file:${file}`,
    timeout: exclusive ? 0 : connectTimeout,
  }).connect()
  const run = async (script: string) => driver.executeScript(script)
  try {
    if (exclusive) {
      const deadline = Date.now() + sqlitePatience
      while (!(await run('BEGIN IMMEDIATE').then(() => true, unlessBusy))) {
        if (Date.now() > deadline) throw new Error('another process keeps it locked')
        await pause(20)
      }
    }
    await run(`PRAGMA busy_timeout = ${connectTimeout}`)
    return connectionOf('sqlite', driver, run, () => driver.dispose())
  } catch (error) {
    await driver.dispose()
    throw error
  }
}

function unlessBusy(error: unknown): false {
  if (error instanceof DriverAdapterError && error.cause.kind === 'SocketTimeout') return false
  throw error
}

const booksQuery = {
  postgresql: `SELECT to_regclass('_prisma_migrations') IS NOT NULL`,
  sqlite: `SELECT count(*) FROM sqlite_master WHERE name = '_prisma_migrations'`,
} satisfies Record<Provider, string>

function connectionOf(
  provider: Provider,
  queryable: SqlQueryable,
  run: (script: string) => Promise<void>,
  close: () => Promise<void>,
): Connection {
  let failure: Connection['failure'] = null
  const executeScript = (script: string) =>
    run(script).catch((error: unknown) => {
      failure ??= { script, error }
      throw error
    })
  return {
    provider,
    adapter: adapterOn(queryable, executeScript),
    get failure() {
      return failure
    },
    hasBooks: async () => {
      const { rows } = await queryable.queryRaw({ sql: booksQuery[provider], args: [], argTypes: [] })
      return Boolean(rows[0]?.[0])
    },
    commit: () => run('COMMIT'),
    close,
  }
}

/** Where a URL points, without its user and password. */
export function describeUrl(url: string): string {
  if (providerOf(url) === 'sqlite') return `the database ${sqlitePath(url)}`
  const { host, pathname } = URL.canParse(url) ? new URL(url) : { host: '', pathname: '' }
  return `the database ${pathname.slice(1)} at ${host}`
}

/** What the adapters only have a name for. */
const inWords: Partial<Record<string, string>> = {
  DatabaseNotReachable: 'nothing answers there',
  ConnectionClosed: 'the connection was closed',
  SocketTimeout: 'it does not answer in time',
  TlsConnectionError: 'no TLS connection can be made to it',
}

/** What went wrong, in one line, whoever throws it. */
export function reasonOf(error: unknown): string {
  const told = driverError(error)?.originalMessage
  if (told !== undefined) return firstLine(told)
  if (error instanceof DriverAdapterError)
    return firstLine(
      error.cause.originalMessage ??
        ('message' in error.cause ? error.cause.message : (inWords[error.cause.kind] ?? error.cause.kind)),
    )
  if (error instanceof AggregateError && error.errors.length > 0) return reasonOf(error.errors[0])
  return firstLine(error instanceof Error ? error.message : String(error))
}

function firstLine(text: string): string {
  return text.split('\n', 1)[0] ?? ''
}
