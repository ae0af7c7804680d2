/**
 * Brings a database to the tables this version needs, or says why it cannot.
 *
 * The migrations are Prisma's own folders and books, so `prisma migrate deploy` and `prisma migrate status` agree
 * with what is done here; but nothing is downloaded, and all pending migrations and their bookkeeping are one
 * transaction: whoever is killed in the middle leaves the database as it was. That transaction also holds the
 * lock that makes processes which start together take turns.
 */
import { existsSync } from 'node:fs'
import { readdir, readFile } from 'node:fs/promises'
import { fileURLToPath } from 'node:url'
import type { MigrationList } from '@prisma/schema-engine-wasm'
import { driverError } from './errors.js'
import {
  type Connection,
  connect,
  describeUrl,
  providerOf,
  reasonOf,
  sqlitePath,
} from './migrationConnection.js'
import { isOutOfReach } from './postgresql.js'
import { noFilters, type Provider, withSchemaEngine } from './schemaEngine.js'

/**
 * - `unreachable`: there is no such database, or it does not let us in
 * - `unknown`: it has migrations that this version does not have; a newer version made it
 * - `edited`: a migration was applied with other contents than it has here
 * - `unfinished`: another tool began a migration and did not finish it
 * - `occupied`: it has tables, and they were not made by migrations
 * - `failed`: a statement of a migration failed; nothing was changed
 */
export type MigrationProblem = 'unreachable' | 'unknown' | 'edited' | 'unfinished' | 'occupied' | 'failed'

/** Why a database is not where this version needs it. The message is one line and holds no password. */
export class MigrationFailed extends Error {
  override readonly name = 'MigrationFailed'
  readonly problem: MigrationProblem

  constructor(problem: MigrationProblem, message: string, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.problem = problem
  }
}

/**
 * Applies what is pending, up to and including the migration named `upTo` if one is named, and returns the names
 * of what it applied. Safe to call from any number of processes at once. Throws {@link MigrationFailed}, and then
 * nothing was applied.
 */
export async function migrate(url: string, options: { upTo?: string } = {}): Promise<string[]> {
  const migrations = await readMigrations(providerOf(url))
  const wanted = upTo(migrations, options.upTo)
  return using(url, 'exclusive', async (connection) => {
    await pending(connection, migrations)
    const applied = await apply(connection, wanted)
    await connection.commit()
    return applied
  })
}

/** The names of the migrations that {@link migrate} would apply. Changes nothing. Throws {@link MigrationFailed}. */
export async function pendingMigrations(url: string): Promise<string[]> {
  const provider = providerOf(url)
  const migrations = await readMigrations(provider)
  if (provider === 'sqlite' && !existsSync(sqlitePath(url))) return names(migrations)
  return using(url, 'shared', (connection) => pending(connection, migrations))
}

/**
 * Whether it may come right without anybody's doing something about this process: a server that is not there yet or starts up, a database
 * that is yet to be made, a file that somebody holds. Credentials that are wrong stay so, and trying them again locks accounts.
 */
export function mayPass(url: string, { cause }: MigrationFailed): boolean {
  if (providerOf(url) === 'sqlite')
    return /^SQLITE_(BUSY|LOCKED)/.test(driverError(cause)?.originalCode ?? '')
  return isOutOfReach(cause) && !driverError(cause)?.originalCode?.startsWith('28')
}

export { describeUrl }

/** Why a database cannot be used, in one line without its password. */
export function describeFailure(url: string, error: unknown): string {
  return `cannot use ${describeUrl(url)}: ${reasonOf(error)}`
}

async function using<T>(
  url: string,
  access: 'exclusive' | 'shared',
  work: (connection: Connection) => Promise<T>,
): Promise<T> {
  const connection = await connect(url, access).catch((error: unknown) => {
    throw new MigrationFailed('unreachable', describeFailure(url, error), error)
  })
  try {
    return await work(connection)
  } catch (error) {
    if (error instanceof MigrationFailed) throw error
    throw new MigrationFailed('failed', `cannot migrate ${describeUrl(url)}: ${reasonOf(error)}`, error)
  } finally {
    await connection.close()
  }
}

async function pending(connection: Connection, migrations: MigrationList): Promise<string[]> {
  if (!(await connection.hasBooks())) return names(migrations)
  const diagnosis = await withSchemaEngine(connection.provider, connection.adapter, (engine) =>
    engine.diagnoseMigrationHistory({
      migrationsList: migrations,
      optInToShadowDatabase: false,
      filters: noFilters,
    }),
  )
  const { history, editedMigrationNames: edited, failedMigrationNames: unfinished } = diagnosis
  if (history !== null && history.diagnostic !== 'databaseIsBehind') {
    const unknown = history.unpersistedMigrationNames.join(', ')
    throw new MigrationFailed(
      'unknown',
      `the database has migrations this version does not know (${unknown}): it belongs to a newer version`,
    )
  }
  if (unfinished.length > 0)
    throw new MigrationFailed(
      'unfinished',
      `${unfinished.join(', ')} was begun by another tool and did not finish: see "prisma migrate resolve"`,
    )
  if (edited.length > 0)
    throw new MigrationFailed(
      'edited',
      `${edited.join(', ')} was applied to the database with other contents than it has in this version`,
    )
  return history === null ? [] : history.unappliedMigrationNames
}

async function apply(connection: Connection, migrations: MigrationList): Promise<string[]> {
  try {
    const { appliedMigrationNames } = await withSchemaEngine(
      connection.provider,
      connection.adapter,
      (engine) => engine.applyMigrations({ migrationsList: migrations, filters: noFilters }),
    )
    return appliedMigrationNames
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'P3005')
      throw new MigrationFailed('occupied', 'the database has tables that no migration made', error)
    // What the engine says after a failed script is about its books, which it then cannot keep.
    const { failure } = connection
    if (failure === null) throw error
    const failed = migrations.migrationDirectories.find(
      ({ migrationFile: { content } }) => content.value === failure.script,
    )
    const message = `migration ${failed?.path ?? ''} failed and nothing was changed: ${reasonOf(failure.error)}`
    throw new MigrationFailed('failed', message, failure.error)
  }
}

/** The migrations of this version, as Prisma's command line reads them. */
async function readMigrations(provider: Provider): Promise<MigrationList> {
  const folder = fileURLToPath(new URL(`../../../prisma/migrations/${provider}`, import.meta.url))
  const entries = await readdir(folder, { withFileTypes: true })
  const directories = entries.filter((entry) => entry.isDirectory()).map((entry) => entry.name)
  return {
    baseDir: folder,
    lockfile: {
      path: 'migration_lock.toml',
      content: await readFile(`${folder}/migration_lock.toml`, 'utf8'),
    },
    shadowDbInitScript: '',
    migrationDirectories: await Promise.all(
      directories.sort().map(async (path) => {
        const value = await readFile(`${folder}/${path}/migration.sql`, 'utf8')
        return { path, migrationFile: { path: 'migration.sql', content: { tag: 'ok' as const, value } } }
      }),
    ),
  }
}

function names(migrations: MigrationList): string[] {
  return migrations.migrationDirectories.map(({ path }) => path)
}

function upTo(migrations: MigrationList, last: string | undefined): MigrationList {
  if (last === undefined) return migrations
  const end = names(migrations).indexOf(last) + 1
  if (end === 0) throw new RangeError(`there is no migration ${last}`)
  return { ...migrations, migrationDirectories: migrations.migrationDirectories.slice(0, end) }
}
