/** Processes that are killed at each point between a message and the end of its turn, and what others make of it. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { describe, expect, onTestFinished, test, vi } from 'vitest'
import { InvalidState } from '../../src/core/rejections.js'
import { Runner } from '../../src/runner/runner.js'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { openPrismaStorage } from '../../src/storage/prisma/open.js'
import { Workspaces } from '../../src/workspace/workspaces.js'
import { describePostgres, migratedDatabase } from '../support/postgres.js'
import { query } from '../support/sql.js'
import { temporaryDirectory } from '../support/tmp.js'
import { ada, agent, endings, eventTypes, replies } from '../support/turns.js'

/** The points, and what becomes of the message: a turn by another process, or none any more. */
const points: readonly [string, 'turn' | 'abandoned'][] = [
  ['after the commit of the message', 'turn'],
  ['after the lease', 'turn'],
  ['after run_started', 'abandoned'],
  ['during live output', 'abandoned'],
  ['before run_ended', 'abandoned'],
]

const killedAt = async (url: string, point: string): Promise<void> => {
  const script = fileURLToPath(new URL('../support/dyingRunner.mjs', import.meta.url))
  const child = spawn(process.execPath, [script, url, point], { stdio: ['ignore', 'ignore', 'inherit'] })
  const [, signal] = await once(child, 'exit')
  expect(signal).toBe('SIGKILL')
  // What it held has lapsed: the lease of a process that is slow to come to its point must not.
  await query(url, 'UPDATE artifactr_leases SET expires_at = 0')
}

/** Another process, which looks for what is left behind. */
const startOther = async (url: string) => {
  const heard: string[] = []
  const storage = await openPrismaStorage({ url })
  const workspaces = new Workspaces(storage)
  const attentive = agent(async function* ({ prompt }) {
    heard.push(prompt ?? '')
    yield { type: 'reply', content: `heard ${prompt}` }
  })
  const runner = new Runner({ workspaces, agent: attentive, recoverEvery: 50 })
  onTestFinished(async () => {
    await runner.close()
    await storage.close()
  })
  return { heard, runner, workspace: workspaces.open('acme', 'w1', { actor: ada }) }
}

const killedAtEachPoint = (database: () => Promise<string>): void => {
  test.each(points)(
    'a process killed %s leaves a thread that goes on',
    async (point, outcome) => {
      const url = await database()
      await killedAt(url, point)
      const { heard, runner, workspace } = await startOther(url)
      const ending = outcome === 'turn' ? ['completed', null] : ['failed', 'abandoned']
      await vi.waitFor(async () => expect(await endings(workspace)).toEqual([ending]), { timeout: 30_000 })
      expect(heard).toEqual(outcome === 'turn' ? ['hello'] : [])
      const again = { type: 'post_message', threadId: 't1', messageId: 'm1', content: 'hello' } as const
      await expect(runner.send(workspace, again)).rejects.toThrow(InvalidState)
      await runner.send(workspace, { ...again, messageId: 'm2', content: 'are you there?' })
      await runner.drain()
      expect(heard.at(-1)).toBe('are you there?')
      expect((await replies(workspace)).at(-1)).toBe('heard are you there?')
      expect((await eventTypes(workspace)).filter((type) => type === 'run_started')).toHaveLength(2)
    },
    90_000,
  )
}

describe('on SQLite', () => {
  killedAtEachPoint(async () => {
    const url = `file:${temporaryDirectory()}/artifactr.db`
    await migrate(url)
    return url
  })
})

describePostgres('on PostgreSQL', () => {
  killedAtEachPoint(migratedDatabase)
})
