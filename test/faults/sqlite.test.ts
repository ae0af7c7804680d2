/** The disk of a SQLite file is full, the file is locked by others, and gateways are killed, while clients go on. */
import { execFileSync } from 'node:child_process'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { until } from '../support/gateway.js'
import { admit, type Strike, type Ward } from '../support/patients.js'
import { openAdapter } from '../support/sql.js'

/** How long the file is locked, in milliseconds: longer than a client is left waiting. */
const OUTAGE = Number(process.env['FAULT_OUTAGE'] ?? 7_000)

/** How far into any file a process may write, in bytes, as the system enforces it: beyond that its disk is as good as full. */
const limitFiles = (pid: number, size: number | 'unlimited') =>
  execFileSync('prlimit', ['--pid', String(pid), `--fsize=${size}:unlimited`])

const canLimitFiles = (): boolean => {
  try {
    limitFiles(process.pid, 'unlimited')
    return true
  } catch {
    return false
  }
}

describe('whatever happens to a SQLite file, no acknowledged message is lost or doubled', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'artifactr-faults-'))
  const url = `file:${directory}/artifactr.db`
  let ward: Ward

  const faults = {
    'another process keeps it locked': async ({ load }) => {
      const adapter = await openAdapter(url)
      const run = (sql: string) => adapter.queryRaw({ sql, args: [], argTypes: [] })
      await run('PRAGMA busy_timeout = 10000')
      await run('BEGIN IMMEDIATE')
      await pause(OUTAGE)
      expect(load.part.ready.at(-1)).toBe(503)
      await run('ROLLBACK')
      await adapter.dispose()
    },
    'the disk is full': async ({ gateway, load }) => {
      if (!canLimitFiles()) return
      // Everything it would write lies beyond the first page.
      limitFiles(gateway.pid, 4_096)
      await until(30_000, 'refused posts', () => load.part.failures['SERVICE_UNAVAILABLE'] ?? null)
      await until(10_000, 'it not to be ready', () => load.part.ready.at(-1) === 503 || null)
      limitFiles(gateway.pid, 'unlimited')
    },
    'the gateway is killed and started again': async ({ gateway, restart }) => {
      await gateway.kill('SIGKILL')
      await restart()
    },
  } satisfies Record<string, Strike>

  beforeAll(() => {
    ward = admit({ env: { DATABASE_URL: url, LOG_LEVEL: 'warn' }, database: url, strikes: faults })
  })

  afterAll(async () => {
    await ward.end()
    rmSync(directory, { recursive: true, force: true })
  })

  const wait = { timeout: 180_000 }

  test('another process keeps it locked', wait, async () => {
    const { failures, health, ready } = await ward.seen('another process keeps it locked')
    expect(Object.keys(failures)).toEqual(['SERVICE_UNAVAILABLE'])
    expect(health).toEqual([200])
    expect([ready[0], ready.includes(503), ready.at(-1)]).toEqual([200, true, 200])
  })

  test.skipIf(!canLimitFiles())(
    'the disk is full (skipped where no process can be given limits)',
    wait,
    async () => {
      const { failures, health, ready } = await ward.seen('the disk is full')
      expect(Object.keys(failures)).toEqual(['SERVICE_UNAVAILABLE'])
      expect(health).toEqual([200])
      expect([ready[0], ready.includes(503), ready.at(-1)]).toEqual([200, true, 200])
    },
  )

  test('the gateway is killed and started again', wait, async () => {
    const { failures, ready } = await ward.seen('the gateway is killed and started again')
    expect(Object.keys(failures)).toContain('disconnected')
    expect(ready.at(-1)).toBe(200)
  })

  test('the log is whole after all of this', wait, async () => {
    await ward.whole
  })
})
