/** What differs between the databases: how they are opened, how a guarded write is one atomic step, and what their errors mean. */
import { Prisma } from '../../generated/postgresql/client.js'
import type { Scope } from '../port.js'
import type { Staging } from '../staging.js'

export const { sql, empty, join, raw } = Prisma
export type Sql = Prisma.Sql

/** The part of a generated client that both have in common. Their model calls have types of their own each. */
export interface Queries {
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

export interface Dialect {
  /** For reads, each a single statement. */
  readonly reads: Queries
  /** Applies a commit and says whether it did. */
  write(commit: Commit): Promise<boolean>
  /** Runs one statement that writes. */
  execute(statement: Sql): Promise<number>
  /** Whether a column holds one of many values, without a statement text of its own for each number of them. */
  oneOf(column: Sql, values: readonly string[]): Sql
  /** The database's clock, in epoch milliseconds. */
  readonly now: Sql
  trouble(error: unknown): Trouble
  close(): Promise<void>
}
