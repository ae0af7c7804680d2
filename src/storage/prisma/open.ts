/** Opens the storage on a database by its URL. */

import type { Unreadable } from '../unreadable.js'
import { openPostgres } from './postgresql.js'
import { openSqlite } from './sqlite.js'
import { PrismaStorage } from './storage.js'

export interface PrismaStorageOptions {
  /** `file:…` for SQLite, relative to the working directory; `postgresql://…` for PostgreSQL. Its tables must be there: see `migrate`. */
  readonly url: string
  /** PostgreSQL: the most connections this process takes; once somebody subscribes, one more listens for other processes' commits. */
  readonly poolSize?: number | undefined
  /** PostgreSQL: where that one goes, if `url` leads to a pooler that lends connections out for a transaction only. */
  readonly listenUrl?: string | undefined
  /** SQLite: `NORMAL` keeps what is acknowledged when the process ends, `FULL` when the machine does as well. */
  readonly synchronous?: 'NORMAL' | 'FULL' | undefined
  /** How long a write is tried again while the database is out of reach or busy, in milliseconds. */
  readonly patience?: number | undefined
  /**
   * The most transactions that wait to be written, half as many of one workspace; 5,000 unless given. What comes beyond that is unavailable at
   * once, so that a database which is away does not fill the memory.
   */
  readonly maxWaiting?: number | undefined
  /** Told of connections that break while nobody uses them. They are replaced; nothing is to be done. */
  readonly onConnectionError?: ((error: Error) => void) | undefined
  /** Told once of each stored event that is broken. It is passed on as an `UnknownEvent` of type `unreadable`. */
  readonly onUnreadable?: ((problem: Unreadable) => void) | undefined
}

/** The most transactions of one workspace that are written at once. */
const BATCH = 128

/** How long a statement waits for a lock that somebody else holds before it is tried again, in milliseconds: its connection is not to be had meanwhile. */
const LOCK_TIMEOUT = 2_000

export const openPrismaStorage = async ({
  url,
  poolSize = 10,
  listenUrl,
  synchronous = 'NORMAL',
  patience = 5_000,
  maxWaiting,
  onConnectionError = () => undefined,
  onUnreadable,
}: PrismaStorageOptions): Promise<PrismaStorage> => {
  const dialect = url.startsWith('file:')
    ? await openSqlite({ url, synchronous, busyTimeout: 100 })
    : openPostgres({
        url,
        poolSize,
        listenUrl,
        lockTimeout: Math.min(patience, LOCK_TIMEOUT),
        statementTimeout: 3 * patience,
        onConnectionError,
      })
  return new PrismaStorage(dialect, { batch: BATCH, patience, maxWaiting, onUnreadable })
}
