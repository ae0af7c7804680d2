/** A storage on either database, whose commits and look-ups a test sees. */
import { onTestFinished } from 'vitest'
import type { Storage } from '../../src/storage/port.js'
import type { Commit, Dialect } from '../../src/storage/prisma/dialect.js'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { openPostgres } from '../../src/storage/prisma/postgresql.js'
import { openSqlite } from '../../src/storage/prisma/sqlite.js'
import { PrismaStorage } from '../../src/storage/prisma/storage.js'
import { migratedDatabase } from './postgres.js'
import { temporaryDirectory } from './tmp.js'

export interface Provider {
  create(): Promise<string>
  open(url: string): Promise<Dialect> | Dialect
  /** Statements that keep everybody else from committing to the workspace, until they are rolled back. */
  readonly locking: readonly string[]
  /** Statements that keep everybody else from writing anything, until they are rolled back. */
  readonly everything: readonly string[]
  /** Statements by which the database refuses events that say "poison". */
  readonly refusing: readonly string[]
}

export const sqlite: Provider = {
  create: async () => {
    const url = `file:${temporaryDirectory()}/artifactr.db`
    await migrate(url)
    return url
  },
  open: (url) => openSqlite({ url, synchronous: 'NORMAL', busyTimeout: 20 }),
  locking: ['BEGIN IMMEDIATE'],
  everything: ['BEGIN IMMEDIATE'],
  refusing: [
    `CREATE TRIGGER refuse BEFORE INSERT ON artifactr_events WHEN NEW.envelope LIKE '%poison%'
      BEGIN SELECT RAISE(ABORT, 'refused'); END`,
  ],
}

export const postgresql: Provider = {
  create: async () => {
    const url = await migratedDatabase()
    return url
  },
  open: (url) =>
    openPostgres({
      url,
      poolSize: 3,
      lockTimeout: 100,
      statementTimeout: 5_000,
      onConnectionError: () => undefined,
    }),
  locking: ['BEGIN', 'SELECT * FROM artifactr_workspaces FOR UPDATE'],
  everything: ['BEGIN', 'LOCK TABLE artifactr_workspaces, artifactr_leases IN EXCLUSIVE MODE'],
  refusing: [
    `ALTER TABLE artifactr_events ADD CONSTRAINT refuse CHECK (envelope NOT LIKE '%poison%') NOT VALID`,
  ],
}

export interface LaneOptions {
  readonly patience?: number
  /** Done before each write. */
  readonly before?: (commit: Commit) => Promise<void>
  readonly maxWaiting?: number
}

/** A storage on the database, what it writes, and how much it looks up by key at a time. */
export const openLane = async (
  { open }: Pick<Provider, 'open'>,
  url: string,
  { patience = 5_000, before, maxWaiting }: LaneOptions = {},
) => {
  const dialect = await open(url)
  const commits: Commit[] = []
  const lookUps: number[] = []
  const write = async (commit: Commit) => {
    commits.push(commit)
    await before?.(commit)
    return dialect.write(commit)
  }
  const byKey: Dialect['byKey'] = (table, scope, column, keys) => {
    lookUps.push(keys.length)
    return dialect.byKey(table, scope, column, keys)
  }
  const storage: Storage = new PrismaStorage(
    { ...dialect, write, byKey },
    { batch: 128, patience, maxWaiting },
  )
  onTestFinished(() => storage.close())
  return { storage, commits, lookUps }
}
