/** Several processes on one database, and processes that are killed (ADR-0045: "across retries, processes and restarts"). */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Storage } from '../../src/storage/port.js'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { openPrismaStorage } from '../../src/storage/prisma/open.js'
import { describePostgres, migratedDatabase } from '../support/postgres.js'
import {
  expectKept,
  ids,
  messageIds,
  post,
  until,
  workspaceOf,
  workspaceWithThread,
} from '../support/posting.js'
import { startPoster } from '../support/processes.js'
import { temporaryDirectory } from '../support/tmp.js'

const open = async (url: string): Promise<Storage> => {
  const storage = await openPrismaStorage({ url })
  onTestFinished(() => storage.close())
  return storage
}

/** What holds for several processes, whatever the database. */
const factsOf = (database: () => Promise<string>): void => {
  test('of 50 identical posts from two processes one succeeds, and the rest of what they post leaves no gap', async () => {
    const url = await database()
    const workspace = await workspaceWithThread(await open(url))
    const same: string[] = Array(25).fill('m1')
    const [a, b] = [ids(200, 'a'), ids(200, 'b')]
    const posters = await Promise.all([
      startPoster(url, [...same, ...a], 25),
      startPoster(url, [...same, ...b], 25),
    ])
    for (const { start } of posters) start()
    await Promise.all(posters.map(({ ended }) => ended))
    const said = posters.flatMap(({ said }) => said)
    const outcomes = said.filter(([id]) => id === 'm1').map(([, outcome]) => outcome)
    expect(outcomes.sort()).toEqual([...Array(49).fill('already exists'), 'posted'])
    expect(said.filter(([, outcome]) => outcome === 'posted')).toHaveLength(401)
    expect((await messageIds(workspace)).sort()).toEqual(['m1', ...a, ...b].sort())
  }, 90_000)

  test('a process killed in a burst of posts leaves every acknowledged message, once, and no gap', async () => {
    const url = await database()
    await workspaceWithThread(await open(url))
    const acknowledged: string[] = []
    for (let round = 0; round < 3; round++) {
      const poster = await startPoster(url, ids(20_000, `${round}-`), 48)
      poster.start()
      await until(() => poster.said.length > 100 * Math.random())
      await pause(Math.random() * 30)
      poster.kill()
      await poster.ended
      expect(poster.said.length).toBeLessThan(20_000)
      for (const [id, outcome] of poster.said) {
        expect(outcome).toBe('posted')
        acknowledged.push(id)
      }
      // As after a restart: nothing of the process's is left but what it wrote.
      const workspace = workspaceOf(await open(url))
      // The database may still be carrying out its last write. Once another is there, that one can no longer apply.
      expect(await post(workspace, `after ${round}`)).toBe('posted')
      await expectKept(workspace, acknowledged)
    }
  }, 90_000)
}

describe('on SQLite', () => {
  factsOf(async () => {
    const url = `file:${temporaryDirectory()}/artifactr.db`
    await migrate(url)
    return url
  })
})

describePostgres('on PostgreSQL', () => {
  factsOf(migratedDatabase)
})
