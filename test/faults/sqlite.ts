/** What happens to a SQLite file and to a gateway on it, and what is to be seen of each. */
import { execFileSync } from 'node:child_process'
import { until } from '../support/gateway.js'
import type { Fault } from '../support/patients.js'
import { openAdapter } from '../support/sql.js'
import { expectBack, expectUnreadyMeanwhile, outage } from './postgresql.js'

/** How far into any file a process may write, in bytes, as the system enforces it: beyond that its disk is as good as full. */
const limitFiles = (pid: number, size: number | 'unlimited') =>
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${size}:unlimited`], { stdio: 'ignore' })

const canLimitFiles = (): boolean => {
  try {
    limitFiles(process.pid, 'unlimited')
    return true
  } catch {
    return false
  }
}

const fullDisk: Fault = {
  strike: async ({ gateway, load }) => {
    // Everything it would write lies beyond the first page.
    limitFiles(gateway.pid, 4_096)
    await until(30_000, 'refused posts', () => load.part.failures['SERVICE_UNAVAILABLE'] ?? null)
    await until(30_000, 'it not to be ready', () => load.part.ready.at(-1) === 503 || null)
    limitFiles(gateway.pid, 'unlimited')
  },
  expected: expectUnreadyMeanwhile,
}

/** What cannot be done here is left out; its name says so. */
const fullDiskWherePossible: Record<string, Fault> = canLimitFiles()
  ? { 'the disk of a SQLite file is full': fullDisk }
  : {
      'the disk of a SQLite file is full (left out: this system sets no process limits)': {
        strike: async () => undefined,
        expected: () => undefined,
      },
    }

export const onSqlite = (url: () => string): Record<string, Fault> => ({
  'another process keeps a SQLite file locked': {
    strike: async ({ load }) => {
      const adapter = await openAdapter(url())
      const run = (sql: string) => adapter.queryRaw({ sql, args: [], argTypes: [] })
      await run('PRAGMA busy_timeout = 10000')
      await run('BEGIN IMMEDIATE')
      await outage(load)
      await run('ROLLBACK')
      await adapter.dispose()
    },
    expected: expectUnreadyMeanwhile,
  },
  ...fullDiskWherePossible,
  'a gateway on a SQLite file is killed and started again': {
    strike: async ({ gateway, restart }) => {
      await gateway.kill('SIGKILL')
      await restart()
    },
    expected: expectBack,
  },
})
