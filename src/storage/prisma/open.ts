/** Opens the storage on a database by its URL. */

import { openPostgres } from './postgresql.js'
import { openSqlite } from './sqlite.js'
import { PrismaStorage } from './storage.js'

export interface PrismaStorageOptions {
  /** `file:…` for SQLite, relative to the working directory; `postgresql://…` for PostgreSQL. Its tables must be there: see `migrate`. */
  readonly url: string
  /** PostgreSQL: the most connections this process takes. */
  readonly poolSize?: number | undefined
  /** SQLite: `NORMAL` keeps what is acknowledged when the process ends, `FULL` when the machine does as well. */
  readonly synchronous?: 'NORMAL' | 'FULL' | undefined
  /** How long a write is tried again while the database is out of reach or busy, in milliseconds. */
  readonly patience?: number | undefined
  /** Told of connections that break while nobody uses them. They are replaced; nothing is to be done. */
  readonly onConnectionError?: ((error: Error) => void) | undefined
}

/** The most transactions of one workspace that are written at once. */
const BATCH = 128

export const openPrismaStorage = async ({
  url,
  poolSize = 10,
  synchronous = 'NORMAL',
  patience = 5_000,
  onConnectionError = () => undefined,
}: PrismaStorageOptions): Promise<PrismaStorage> => {
  const dialect = url.startsWith('file:')
    ? await openSqlite({ url, synchronous, busyTimeout: 100 })
    : openPostgres({
        url,
        poolSize,
        lockTimeout: patience,
        statementTimeout: 3 * patience,
        onConnectionError,
      })
  return new PrismaStorage(dialect, { batch: BATCH, patience })
}
