/**
 * SQLite: a guarded write is one transaction that begins with the guard. Prisma's adapter has one connection a client, and a statement
 * from elsewhere would run inside whatever transaction is open on it: so one client is for writes, entered one at a time, and one for
 * reads.
 */
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaClient } from '../../generated/sqlite/client.js'
import { Turnstile } from '../turnstile.js'
import { type Commit, type Dialect, raw, type Sql, sql, type Trouble } from './dialect.js'
import { driverError } from './errors.js'
import { columnNames, onConflict, type Target, targets } from './payload.js'

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
    await client.$queryRaw(sql`PRAGMA journal_mode = WAL`)
    await client.$queryRaw(sql`PRAGMA synchronous = ${raw(synchronous)}`)
  }
  /** Prisma ends a transaction that failed; should that fail too, nothing may stay open on the connection. */
  const afterFailure = async (): Promise<void> => {
    await writes.$executeRaw(sql`ROLLBACK`).catch(() => undefined)
  }
  const exclusively = <Result>(work: () => Promise<Result>): Promise<Result> =>
    turnstile.pass(async () => {
      try {
        return await work()
      } catch (error) {
        await afterFailure()
        throw error
      }
    })
  return {
    reads,
    write: (commit) =>
      exclusively(async () => {
        const statements = [guard(commit), ...targets(commit.staging).map((target) => insert(commit, target))]
        const [applied] = await writes.$transaction(
          statements.map((statement) => writes.$executeRaw(statement)),
        )
        return applied === 1
      }),
    execute: (statement) => exclusively(() => writes.$executeRaw(statement)),
    oneOf: (column, values) => sql`${column} IN (SELECT value FROM json_each(${JSON.stringify(values)}))`,
    now: sql`CAST(unixepoch('subsec') * 1000 AS INTEGER)`,
    trouble,
    close: async () => {
      await turnstile.pass(() => writes.$disconnect())
      await reads.$disconnect()
    },
  }
}

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

/** Inserts only where the guard left this commit's token behind. */
const insert = ({ scope, token }: Commit, target: Target): Sql => {
  const { tenantId, workspaceId } = scope
  const values = raw(target.columns.map(({ name }) => `value->>'${name}'`).join(', '))
  return sql`INSERT INTO ${target.table} (tenant_id, workspace_id, ${raw(columnNames(target))})
    SELECT ${tenantId}, ${workspaceId}, ${values} FROM json_each(${JSON.stringify(target.rows)})
    WHERE EXISTS (SELECT 1 FROM artifactr_workspaces
      WHERE tenant_id = ${tenantId} AND workspace_id = ${workspaceId} AND commit_token = ${token}) ${onConflict(target)}`
}

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
