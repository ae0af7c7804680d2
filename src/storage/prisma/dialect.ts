/** What differs between the databases: how they are opened, how a guarded write is one atomic step, and what their errors mean. */
import { Prisma } from '../../generated/postgresql/client.js'
import type { Connections } from '../observer.js'
import type { Scope } from '../port.js'
import type { Staging } from '../staging.js'

export const { sql, join, raw } = Prisma
export type Sql = Prisma.Sql

/** The part of a generated client that both have in common. Their model calls have types of their own each. */
interface Queries {
  $queryRaw(query: Sql): Promise<unknown>
}

/** A guarded write: everything staged, if the workspace's commit token is still the one that was read. */
export interface Commit {
  readonly scope: Scope
  /** The token that was read; `null` when the workspace had no row yet. */
  readonly expected: string | null
  /** The token to leave behind. */
  readonly token: string
  readonly staging: Staging
}

/**
 * What an error of the database means: another commit came first; the database is out of reach or busy, and it may not be known whether
 * the statement was carried out; or a fault of ours.
 */
export type Trouble = 'conflict' | 'unavailable' | 'fault'

/** Who hears of commits. */
export interface Woken {
  /** Something may have been appended to this log. */
  one(scope: Scope): void
  /** Something may have been appended to any log: nothing was heard for a while. */
  all(): void
}

export interface WakeUps {
  /** How long, in milliseconds, until followers are to look for what they were not told of. */
  readonly pollInterval: number
  /** Hears of the commits of other processes from now on. */
  listen(): void
  /** Nobody follows any log for now. */
  rest(): void
  /** Tells other processes of a commit. What is told meanwhile goes together. */
  notify(scope: Scope): void
  /** Ends when everything was told. */
  close(): Promise<void>
}

export interface Dialect {
  /** For reads, each a single statement. */
  readonly reads: Queries
  /** Applies a commit and says whether it did. */
  write(commit: Commit): Promise<boolean>
  /** Runs one statement that writes. */
  execute(statement: Sql): Promise<number>
  /** The rows of a table that have one of many keys, as a FROM clause: one index look-up a key, whatever the statistics say. */
  byKey(table: Sql, scope: Scope, column: Sql, keys: readonly string[]): Sql
  /** Whether a column holds one of many values, without a statement text of its own for each number of them. */
  oneOf(column: Sql, values: readonly string[]): Sql
  /** The database's clock, in epoch milliseconds. */
  readonly now: Sql
  trouble(error: unknown): Trouble
  /** How commits are made known to other processes, and theirs to this one. */
  openWakeUps(woken: Woken): WakeUps
  /** Where there is a pool of them. */
  connections?(): Connections
  close(): Promise<void>
}
