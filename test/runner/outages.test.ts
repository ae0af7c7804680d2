/** Turns whose storage goes away: what they write is written once it is back, and a run is never left to itself. */
import { expect, test, vi } from 'vitest'
import { MemoryData, type MemoryStorage } from '../../src/storage/memory.js'
import { StorageUnavailable } from '../../src/storage/port.js'
import { agent, attentive, createThread, deferred, endings, replies, startProcess } from '../support/turns.js'

const outOfReach = () => new StorageUnavailable('out of reach')

/** An agent that replies once it is told to. */
const patient = () => {
  const begun = deferred()
  const proceed = deferred()
  const said = agent(async function* () {
    begun.resolve()
    await proceed.promise
    yield { type: 'reply', content: 'here' }
  })
  return { said, begun: begun.promise, proceed: proceed.resolve }
}

test('a storage that is away for a moment costs no run', async () => {
  const { said, begun, proceed } = patient()
  const { workspace, storage, say, runner } = startProcess(new MemoryData(), said)
  await createThread(workspace)
  await say('hello')
  await begun
  let failures = 0
  storage.before.transaction = async () => {
    if (++failures % 3 !== 0) throw outOfReach()
  }
  proceed()
  await runner.drain()
  expect(failures).toBeGreaterThan(3)
  expect(await replies(workspace)).toEqual(['here'])
  expect(await endings(workspace)).toEqual([['completed', null]])
})

test('what was written although nobody heard of it is not written again', async () => {
  const { said, begun, proceed } = patient()
  const { workspace, storage, say, runner } = startProcess(new MemoryData(), said)
  await createThread(workspace)
  await say('hello')
  await begun
  const transaction = storage.transaction
  const heard = new Set<string>()
  const losesTheFirstAnswer: MemoryStorage['transaction'] = async (...args) => {
    const result = await transaction(...args)
    const { length } = await replies(workspace)
    const written = `${length} ${(await endings(workspace)).length}`
    if (heard.has(written)) return result
    heard.add(written)
    throw outOfReach()
  }
  storage.transaction = losesTheFirstAnswer
  proceed()
  await runner.drain()
  expect(heard).toContain('1 1')
  expect(await replies(workspace)).toEqual(['here'])
  expect(await endings(workspace)).toEqual([['completed', null]])
})

test('a run that its process cannot end is not let go, so that others find it', async () => {
  const data = new MemoryData()
  const { said, begun, proceed } = patient()
  const dying = startProcess(data, said, { leaseTtl: 300 })
  await createThread(dying.workspace)
  await dying.say('hello')
  await begun
  dying.storage.before.transaction = async () => {
    throw new Error('something is wrong here')
  }
  proceed()
  await vi.waitFor(() => expect(dying.errors).not.toHaveLength(0), 20_000)
  await dying.runner.close()
  const heard: string[] = []
  const other = startProcess(data, attentive(heard), { recoverEvery: 50 })
  await vi.waitFor(
    async () => expect(await endings(other.workspace)).toEqual([['failed', 'abandoned']]),
    20_000,
  )
  expect(heard).toEqual([])
  await other.runner.close()
})
