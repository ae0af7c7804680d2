/** The contract suite against every storage there is. */
import { describe, onTestFinished, test } from 'vitest'
import type { Subject } from '../../src/storage/contract/index.js'
import { storageContract } from '../../src/storage/contract/index.js'
import { MemoryData, MemoryStorage } from '../../src/storage/memory.js'
import type { Storage } from '../../src/storage/port.js'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { openPrismaStorage } from '../../src/storage/prisma/open.js'
import { createMigratedDatabase, describePostgres } from '../support/postgres.js'
import { query } from '../support/sql.js'
import { temporaryDirectory } from '../support/tmp.js'

/** Runs every fact, whole, each on data of its own. */
const keepsTheContract = (subject: () => Promise<Subject>): void => {
  for (const { fact, holds } of storageContract) test(fact, async () => holds(await subject()))
}

const closing = async (opened: Promise<Storage> | Storage): Promise<Storage> => {
  const storage = await opened
  onTestFinished(() => storage.close())
  return storage
}

describe('in memory', () => {
  keepsTheContract(async () => {
    const data = new MemoryData()
    return {
      open: () => closing(new MemoryStorage(data)),
      eraseLog: async (scope) => data.workspace(scope).log.clear(),
    }
  })
})

const eraseLog =
  (url: string): Subject['eraseLog'] =>
  async ({ tenantId, workspaceId }) => {
    const where = `tenant_id = '${tenantId}' AND workspace_id = '${workspaceId}'`
    await query(url, `DELETE FROM artifactr_events WHERE ${where}`)
  }

describe('on SQLite', () => {
  keepsTheContract(async () => {
    const url = `file:${temporaryDirectory()}/artifactr.db`
    await migrate(url)
    return {
      open: () => closing(openPrismaStorage({ url })),
      eraseLog: eraseLog(url),
    }
  })
})

describePostgres('on PostgreSQL', () => {
  keepsTheContract(async () => {
    const { url, drop } = await createMigratedDatabase()
    onTestFinished(drop)
    return {
      open: () => closing(openPrismaStorage({ url, poolSize: 5 })),
      eraseLog: eraseLog(url),
    }
  })
})
