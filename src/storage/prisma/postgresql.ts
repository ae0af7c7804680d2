/** PostgreSQL: a guarded write is one statement, whose inserts join the guard. */
import { createHash } from 'node:crypto'
import { PrismaPg } from '@prisma/adapter-pg'
import { Pool } from 'pg'
import { z } from 'zod'
import { PrismaClient } from '../../generated/postgresql/client.js'
import { type Commit, type Dialect, join, raw, type Sql, sql, type Trouble } from './dialect.js'
import { driverError, isSystemError } from './errors.js'
import { columnNames, onConflict, type Target, targets } from './payload.js'
import { inScope } from './reads.js'
import { openPostgresWakeUps } from './wake.js'

export interface PostgresOptions {
  readonly url: string
  /** Where the one connection goes that listens for the commits of other processes, if not to `url`. */
  readonly listenUrl?: string | undefined
  /** The most connections this process takes. */
  readonly poolSize: number
  /** How long a statement may wait for a lock that somebody else holds, in milliseconds. */
  readonly lockTimeout: number
  /** How long a statement may take, in milliseconds. */
  readonly statementTimeout: number
  /** Told of connections that break while nobody uses them. */
  readonly onConnectionError: (error: Error) => void
}

export const openPostgres = (options: PostgresOptions): Dialect => {
  const pool = poolOf(options)
  const client = new PrismaClient({ adapter: adapter(pool, options) })
  return {
    reads: client,
    write: async (commit) => {
      const rows = await client.$queryRaw(guardedWrite(commit))
      return appliedRows.parse(rows).length > 0
    },
    execute: (statement) => client.$executeRaw(statement),
    byKey,
    oneOf: (column, values) => sql`${column} = ANY(${values})`,
    now: sql`CAST(extract(epoch FROM clock_timestamp()) * 1000 AS BIGINT)`,
    trouble,
    openWakeUps: (woken) =>
      openPostgresWakeUps({
        url: options.listenUrl ?? options.url,
        send: (channel, payloads) =>
          client.$executeRaw(
            sql`SELECT pg_notify(${channel}, payload) FROM unnest(CAST(${payloads} AS TEXT[])) AS untold(payload)`,
          ),
        woken,
      }),
    connections: () => ({ total: pool.totalCount, idle: pool.idleCount, waiting: pool.waitingCount }),
    close: () => client.$disconnect(),
  }
}

const poolOf = ({ url, poolSize, lockTimeout, statementTimeout }: PostgresOptions): Pool =>
  new Pool({
    connectionString: url,
    max: poolSize,
    connectionTimeoutMillis: Math.min(5_000, statementTimeout),
    lock_timeout: lockTimeout,
    statement_timeout: statementTimeout,
    // Should the server not even say that it took too long, the connection is given up.
    query_timeout: statementTimeout + 1_000,
    keepAlive: true,
    application_name: 'artifactr-gateway',
  })

const adapter = (pool: Pool, { onConnectionError }: PostgresOptions): PrismaPg =>
  new PrismaPg(pool, {
    disposeExternalPool: true,
    onPoolError: (error) => onConnectionError(bare(error)),
    onConnectionError: (error) => onConnectionError(bare(error)),
    // Statements have few texts, so that PostgreSQL may keep their plans.
    statementNameGenerator: ({ sql }) => createHash('sha1').update(sql).digest('base64url'),
  })

/** The driver hangs its whole client on an error, with the statement that was under way and what was to be written: none of a log's business. */
const bare = ({ message, stack }: Error): Error => Object.assign(new Error(message), { stack })

/**
 * Until a table is analysed, PostgreSQL takes a workspace to have one row, whichever index it is found by, and so may read all of it and
 * filter. Only the key's own index has the order that is asked for here, and what has an ORDER BY is not merged into a join.
 */
const byKey: Dialect['byKey'] = (table, scope, column, keys) =>
  sql`unnest(CAST(${keys} AS TEXT[])) AS wanted(key) CROSS JOIN LATERAL (SELECT * FROM ${table}
    WHERE ${inScope(scope)} AND ${column} BETWEEN wanted.key AND wanted.key ORDER BY ${column}) AS found`

const appliedRows = z.array(z.object({ applied: z.number() }))

/** One statement. It returns a row if the guard held. */
export const guardedWrite = ({ scope, expected, token, staging }: Commit): Sql => {
  const { tenantId, workspaceId } = scope
  const head = BigInt(staging.head)
  const guard =
    expected === null
      ? sql`INSERT INTO artifactr_workspaces (tenant_id, workspace_id, head_seq, commit_token)
          VALUES (${tenantId}, ${workspaceId}, ${head}, ${token}) ON CONFLICT DO NOTHING
          RETURNING tenant_id, workspace_id`
      : sql`UPDATE artifactr_workspaces SET head_seq = ${head}, commit_token = ${token}
          WHERE tenant_id = ${tenantId} AND workspace_id = ${workspaceId} AND commit_token = ${expected}
          RETURNING tenant_id, workspace_id`
  const inserts = targets(staging).map((target, index) => sql`${raw(`part${index}`)} AS (${insert(target)})`)
  return sql`WITH guard AS (${guard}), ${join(inserts, ', ')} SELECT 1 AS applied FROM guard`
}

const insert = (target: Target): Sql => {
  const { columns } = target
  const record = columns.map(({ name, type }) => `${name} ${type === 'HEX' ? 'TEXT' : type}`)
  const values = columns.map(({ name, type }) => (type === 'HEX' ? `decode(r.${name}, 'hex')` : `r.${name}`))
  return sql`INSERT INTO ${target.table} (tenant_id, workspace_id, ${raw(columnNames(target))})
    SELECT guard.tenant_id, guard.workspace_id, ${raw(values.join(', '))}
    FROM guard, json_to_recordset(CAST(${JSON.stringify(target.rows)} AS json)) AS r(${raw(record.join(', '))})
    ${onConflict(target)}`
}

/**
 * SQLSTATEs, or classes of them: connections, credentials, the database's absence, resources, operators and the system, a standby; a
 * database that takes no connections for now, and a lock that somebody holds.
 */
const unavailableStates = /^(08|28|3D|53|57|58|25006|40003|55000|55P03)/

/** What the adapter has names for and the server no SQLSTATE. */
const unavailableKinds: ReadonlySet<string> = new Set([
  'DatabaseNotReachable',
  'ConnectionClosed',
  'SocketTimeout',
  'TlsConnectionError',
])

/** What the driver and its pool report in their own words: Prisma passes these errors on as they are. */
const unavailableMessages =
  /connection terminated|timeout exceeded|timeout expired|read timeout|connection error|not queryable|after calling end/i

/** Whether the server, or the way to it, is what failed. */
export const isOutOfReach = (error: unknown): boolean => {
  const driver = driverError(error)
  if (driver === null) return isSystemError(error) || unavailableMessages.test(String(error))
  return unavailableKinds.has(driver.kind) || unavailableStates.test(driver.originalCode ?? '')
}

const trouble = (error: unknown): Trouble => {
  if (driverError(error)?.kind === 'TransactionWriteConflict') return 'conflict'
  return isOutOfReach(error) ? 'unavailable' : 'fault'
}
