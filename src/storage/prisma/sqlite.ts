/**
 * SQLite: a guarded write is one transaction that begins with the guard. Prisma's adapter has one connection a client, and a statement
 * from elsewhere would run inside whatever transaction is open on it: so one client is for writes, entered one at a time, and one for
 * reads. The transaction is begun and ended here and not by Prisma, whose own does not wait for the lock before it does anything, goes
 * on with the other statements when one has failed, and has a time limit.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaClient } from '../../generated/sqlite/client.js'
import type { Scope } from '../port.js'
import { Turnstile } from '../turnstile.js'
import { type Commit, type Dialect, raw, type Sql, sql, type Trouble } from './dialect.js'
import { driverError } from './errors.js'
import { type Column, columnNames, onConflict, type Target, targets } from './payload.js'
import { inScope } from './reads.js'
import { openSqliteWakeUps } from './wakeSqlite.js'

export interface SqliteOptions {
  /** `file:` and a path, relative to the working directory. */
  readonly url: string
  /** `NORMAL` survives the end of the process, `FULL` that of the machine as well. */
  readonly synchronous: 'NORMAL' | 'FULL'
  /** How long one statement waits for other processes, in milliseconds. This process does nothing else meanwhile. */
  readonly busyTimeout: number
}

export const openSqlite = async ({ url, synchronous, busyTimeout }: SqliteOptions): Promise<Dialect> => {
  const open = () => new PrismaClient({ adapter: new PrismaBetterSqlite3({ url, timeout: busyTimeout }) })
  const reads = open()
  const writes = open()
  const turnstile = new Turnstile()
  for (const client of [writes, reads]) {
    await patiently(() => client.$queryRaw(sql`PRAGMA journal_mode = WAL`))
    await patiently(() => client.$queryRaw(sql`PRAGMA synchronous = ${raw(synchronous)}`))
  }
  const run = (statement: Sql): Promise<number> => writes.$executeRaw(statement)
  return {
    reads,
    write: (commit) =>
      turnstile.pass(async () => {
        // Immediate: who waits for the lock waits here, once, and holds nothing.
        await run(sql`BEGIN IMMEDIATE`)
        try {
          const applied = (await run(guard(commit))) === 1
          if (applied) for (const target of targets(commit.staging)) await run(insert(commit.scope, target))
          await run(applied ? sql`COMMIT` : sql`ROLLBACK`)
          return applied
        } catch (error) {
          // Some errors end the transaction themselves, and then there is none to roll back.
          await run(sql`ROLLBACK`).catch(() => undefined)
          throw error
        }
      }),
    execute: (statement) => turnstile.pass(() => run(statement)),
    byKey: (table, scope, column, keys) => sql`${table} WHERE ${inScope(scope)} AND ${oneOf(column, keys)}`,
    oneOf,
    now: sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
    trouble,
    openWakeUps: (woken) =>
      openSqliteWakeUps({ version: () => reads.$queryRaw(sql`PRAGMA data_version`), woken }),
    close: async () => {
      await turnstile.pass(() => writes.$disconnect())
      await reads.$disconnect()
    },
  }
}

const oneOf = (column: Sql, values: readonly string[]): Sql =>
  sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`

const guard = ({ scope, expected, token, staging }: Commit): Sql => {
  const { tenantId, workspaceId } = scope
  const head = BigInt(staging.head)
  if (expected === null) {
    return sql`INSERT INTO artifactr_workspaces (tenant_id, workspace_id, head_seq, commit_token)
      VALUES (${tenantId}, ${workspaceId}, ${head}, ${token}) ON CONFLICT DO NOTHING`
  }
  return sql`UPDATE artifactr_workspaces SET head_seq = ${head}, commit_token = ${token}
    WHERE tenant_id = ${tenantId} AND workspace_id = ${workspaceId} AND commit_token = ${expected}`
}

const insert = ({ tenantId, workspaceId }: Scope, target: Target): Sql => {
  const values = raw(target.columns.map(extract).join(', '))
  // SQLite takes the ON of a conflict for that of a join, unless there is a WHERE.
  return sql`INSERT INTO ${target.table} (tenant_id, workspace_id, ${raw(columnNames(target))})
    SELECT ${tenantId}, ${workspaceId}, ${values} FROM json_each(${JSON.stringify(target.rows)})
    WHERE true ${onConflict(target)}`
}

const extract = ({ name, type }: Column): string =>
  type === 'HEX' ? `unhex(value->>'${name}')` : `value->>'${name}'`

/** Out of reach or busy, as SQLite names it: a lock held elsewhere, a disk that is full or fails. */
const unavailable = [
  'SQLITE_BUSY',
  'SQLITE_LOCKED',
  'SQLITE_FULL',
  'SQLITE_IOERR',
  'SQLITE_CANTOPEN',
  'SQLITE_READONLY',
]

const trouble = (error: unknown): Trouble => {
  const code = driverError(error)?.originalCode ?? ''
  return unavailable.some((prefix) => code.startsWith(prefix)) ? 'unavailable' : 'fault'
}

/** Processes that open a new file together get in each other's way. In milliseconds. */
const OPENING_TIMEOUT = 5_000

const patiently = async <Result>(work: () => Promise<Result>): Promise<Result> => {
  const deadline = Date.now() + OPENING_TIMEOUT
  for (;;) {
    try {
      return await work()
    } catch (error) {
      if (trouble(error) === 'fault' || Date.now() > deadline) throw error
      await pause(Math.random() * 20)
    }
  }
}
