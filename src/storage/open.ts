/** Opens a storage by its URL: migrated, and known to answer. What belongs to Prisma is loaded only where it is needed. */
import { MemoryStorage } from './memory.js'
import type { Storage } from './port.js'
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

/** @throws Error with one line on why the database cannot be used. */
export const openStorage = async ({
  url,
  migrate: when,
  onMigrated,
  ...options
}: OpenOptions): Promise<Storage> => {
  if (url === 'memory:') return new MemoryStorage()
  const [{ migrate, pendingMigrations }, { openPrismaStorage }] = await Promise.all([
    import('./prisma/migrate.js'),
    import('./prisma/open.js'),
  ])
  if (when === 'auto') {
    const applied = await migrate(url)
    if (applied.length > 0) onMigrated(applied)
  } else {
    const pending = await pendingMigrations(url)
    if (pending.length > 0) throw new Error(`it is behind, and MIGRATE=check: ${pending.join(', ')} pending`)
  }
  const storage = await openPrismaStorage({ url, ...options })
  await storage.ping()
  return storage
}
