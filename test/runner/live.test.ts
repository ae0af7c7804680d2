/** Live output: for whoever watches, bounded, and never in the log. */
import { expect, test } from 'vitest'
import { NotFound } from '../../src/core/rejections.js'
import type { LiveFrame } from '../../src/runner/live.js'
import { MemoryData } from '../../src/storage/memory.js'
import { agent, createThread, deferred, eventTypes, startProcess } from '../support/turns.js'

const talking = () => {
  const started = deferred<string>()
  const proceed = deferred()
  const talker = agent(async function* ({ runId }) {
    yield { type: 'part_started', part: 0, kind: 'text' }
    yield { type: 'text_delta', part: 0, delta: 'early' }
    started.resolve(runId)
    await proceed.promise
    yield { type: 'text_delta', part: 0, delta: 'late' }
    yield { type: 'part_ended', part: 0 }
    yield { type: 'reply', content: 'early late' }
  })
  return { started, proceed, talker }
}

const collect = async (frames: AsyncIterable<LiveFrame>): Promise<string[]> => {
  const all: string[] = []
  for await (const frame of frames) all.push('delta' in frame ? frame.delta : frame.type)
  return all
}

test('who attaches late gets what there is, then the rest, and the end of the run ends it', async () => {
  const { started, proceed, talker } = talking()
  const { workspace, say, runner } = startProcess(new MemoryData(), talker)
  await createThread(workspace)
  await say('hello', 'm1')
  const runId = await started.promise
  const watched = await Promise.all([runner.watch(workspace, runId), runner.watch(workspace, runId)])
  const collected = watched.map((watch) => (watch.where === 'here' ? collect(watch.frames) : []))
  proceed.resolve()
  const frames = ['part_started', 'early', 'late', 'part_ended']
  expect(await Promise.all(collected)).toEqual([frames, frames])
  await runner.drain()
  expect(await runner.watch(workspace, runId)).toEqual({ where: 'over' })
  expect(await eventTypes(workspace)).toEqual([
    'thread_created',
    'message_posted',
    'run_started',
    'message_posted',
    'run_ended',
  ])
})

test('a watcher that leaves while it waits is gone at once', async () => {
  const { started, proceed, talker } = talking()
  const { workspace, say, runner } = startProcess(new MemoryData(), talker)
  await createThread(workspace)
  await say('hello', 'm1')
  const watch = await runner.watch(workspace, await started.promise)
  if (watch.where !== 'here') throw new Error('the run is carried out here')
  await watch.frames.next()
  await watch.frames.next()
  const waiting = watch.frames.next()
  await watch.frames.return?.()
  expect(await waiting).toEqual({ done: true, value: undefined })
  proceed.resolve()
  await runner.drain()
})

test('a run of another process is known to be elsewhere, and a run that is not is not found', async () => {
  const data = new MemoryData()
  const { started, proceed, talker } = talking()
  const { workspace, say, runner } = startProcess(data, talker)
  const other = startProcess(data, talker)
  await createThread(workspace)
  await say('hello', 'm1')
  expect(await other.runner.watch(other.workspace, await started.promise)).toEqual({ where: 'elsewhere' })
  await expect(other.runner.watch(other.workspace, 'r9')).rejects.toThrow(NotFound)
  proceed.resolve()
  await runner.drain()
})

test('a watcher that is slow loses the oldest frames only, and the run does not wait for it', async () => {
  const started = deferred<string>()
  const proceed = deferred()
  const chatty = agent(async function* ({ runId }) {
    started.resolve(runId)
    await proceed.promise
    for (let n = 0; n < 5_000; n++) yield { type: 'text_delta', part: 0, delta: String(n) }
  })
  const { workspace, say, runner } = startProcess(new MemoryData(), chatty)
  await createThread(workspace)
  await say('hello', 'm1')
  const watch = await runner.watch(workspace, await started.promise)
  proceed.resolve()
  await runner.drain()
  if (watch.where !== 'here') throw new Error('the run is carried out here')
  const frames = await collect(watch.frames)
  expect(frames).toEqual(Array.from({ length: 1_000 }, (_, n) => String(4_000 + n)))
})
