/** Opens a storage by its URL: migrated, and known to answer. What belongs to Prisma is loaded only where it is needed. */
import { MemoryStorage } from './memory.js'
import { type Storage, StorageUnavailable } from './port.js'
import type { PrismaStorageOptions } from './prisma/open.js'

export interface OpenOptions extends Omit<PrismaStorageOptions, 'url'> {
  /** `memory:` for one that is gone with its process; else as `PrismaStorageOptions.url`. */
  readonly url: string
  /** What becomes of a database that is behind: it is migrated, or refused. */
  readonly migrate: 'auto' | 'check'
  /** Told of the migrations that were applied. */
  readonly onMigrated: (names: readonly string[]) => void
}

/** Applies the migrations that a database lacks, and returns their names. @throws MigrationFailed with one line on why it cannot. */
export const migrateStorage = async (url: string): Promise<readonly string[]> => {
  const { migrate } = await import('./prisma/migrate.js')
  return migrate(url)
}

/** Why a database cannot be used, in one line that holds no password. */
export class CannotOpen extends Error {
  override readonly name = 'CannotOpen'
  /** Whether it may come right by itself: then it is worth trying again. */
  readonly mayPass: boolean

  constructor(message: string, mayPass: boolean, cause?: unknown) {
    super(message, cause === undefined ? undefined : { cause })
    this.mayPass = mayPass
  }
}

/** @throws CannotOpen, or what is wrong with the storage itself. */
export const openStorage = async ({
  url,
  migrate: when,
  onMigrated,
  ...options
}: OpenOptions): Promise<Storage> => {
  if (url === 'memory:') return new MemoryStorage()
  const [
    { describeFailure, describeUrl, migrate, MigrationFailed, pendingMigrations, mayPass },
    { openPrismaStorage },
  ] = await Promise.all([import('./prisma/migrate.js'), import('./prisma/open.js')])
  try {
    if (when === 'auto') {
      const applied = await migrate(url)
      if (applied.length > 0) onMigrated(applied)
    } else {
      const pending = await pendingMigrations(url)
      if (pending.length > 0) {
        const problem = `${describeUrl(url)} is behind, and MIGRATE=check: ${pending.join(', ')} pending`
        throw new CannotOpen(problem, false)
      }
    }
  } catch (error) {
    if (!(error instanceof MigrationFailed)) throw error
    throw new CannotOpen(error.message, mayPass(url, error), error)
  }
  const storage = await openPrismaStorage({ url, ...options }).catch((error: unknown) => {
    throw new CannotOpen(describeFailure(url, error), false, error)
  })
  try {
    await storage.ping()
  } catch (error) {
    await storage.close()
    if (!(error instanceof StorageUnavailable)) throw error
    throw new CannotOpen(error.message, true, error)
  }
  return storage
}
