/** The storages there are, for facts that hold on each. */
import { describe, onTestFinished } from 'vitest'
import type { Subject } from '../../src/storage/contract/index.js'
import { MemoryData, MemoryStorage } from '../../src/storage/memory.js'
import type { Scope, Storage } from '../../src/storage/port.js'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { openPrismaStorage } from '../../src/storage/prisma/open.js'
import { createMigratedDatabase, describePostgres } from './postgres.js'
import { query } from './sql.js'
import { temporaryDirectory } from './tmp.js'

/** Runs a suite on every storage. `newSubject` makes empty data for the running test; what is opened on it is closed with the test. */
export const describeStorages = (suite: (newSubject: () => Promise<Subject>) => void): void => {
  describe('in memory', () => {
    suite(async () => {
      const data = new MemoryData()
      return {
        open: () => closedAfter(Promise.resolve(new MemoryStorage(data))),
        eraseLog: async (scope) => data.workspace(scope).log.clear(),
        rewriteEvent: async (scope, seq, envelope) => void data.workspace(scope).log.set(seq, envelope),
        rewindTo: async (scope, head) => {
          data.workspace(scope).head = head
        },
      }
    })
  })

  describe('on SQLite', () => {
    suite(async () => {
      const url = `file:${temporaryDirectory()}/artifactr.db`
      await migrate(url)
      return { open: () => closedAfter(openPrismaStorage({ url })), ...tampering(url) }
    })
  })

  describePostgres('on PostgreSQL', () => {
    suite(async () => {
      const { url, drop } = await createMigratedDatabase()
      onTestFinished(drop)
      return { open: () => closedAfter(openPrismaStorage({ url, poolSize: 5 })), ...tampering(url) }
    })
  })
}

const closedAfter = async (opened: Promise<Storage>): Promise<Storage> => {
  const storage = await opened
  onTestFinished(() => storage.close())
  return storage
}

/** What facts do to a database behind the storages' back. */
const tampering = (url: string): Omit<Subject, 'open'> => {
  const within = ({ tenantId, workspaceId }: Scope) =>
    `tenant_id = '${tenantId}' AND workspace_id = '${workspaceId}'`
  const run = async (statement: string) => void (await query(url, statement))
  return {
    eraseLog: (scope) => run(`DELETE FROM artifactr_events WHERE ${within(scope)}`),
    rewriteEvent: (scope, seq, envelope) =>
      run(`UPDATE artifactr_events SET envelope = '${envelope}' WHERE ${within(scope)} AND seq = ${seq}`),
    rewindTo: (scope, head) =>
      run(`UPDATE artifactr_workspaces SET head_seq = ${head} WHERE ${within(scope)}`),
  }
}
