/** SQL from tests, on either database, past everything the gateway has. */
import { PrismaBetterSqlite3 } from '@prisma/adapter-better-sqlite3'
import { PrismaPg } from '@prisma/adapter-pg'
import type { SqlDriverAdapter } from '@prisma/driver-adapter-utils'

type Row = Record<string, unknown>

/** Runs one statement and returns its rows. */
export type Sql = (text: string) => Promise<Row[]>

export function openAdapter(url: string): Promise<SqlDriverAdapter> {
  return url.startsWith('file:')
    ? new PrismaBetterSqlite3({ url }).connect()
    : new PrismaPg({ connectionString: url, max: 1 }).connect()
}

/** Lends a connection of its own to `work`. */
export async function withSql<T>(url: string, work: (sql: Sql) => Promise<T>): Promise<T> {
  const adapter = await openAdapter(url)
  try {
    return await work(async (text) => {
      const { columnNames, rows } = await adapter.queryRaw({ sql: text, args: [], argTypes: [] })
      return rows.map((row) => Object.fromEntries(columnNames.map((name, i) => [name, row[i]])))
    })
  } finally {
    await adapter.dispose()
  }
}

/** Runs one statement on a connection of its own. */
export function query(url: string, text: string): Promise<Row[]> {
  return withSql(url, (sql) => sql(text))
}
