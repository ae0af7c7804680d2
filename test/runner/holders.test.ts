/** The invariants of who carries out a thread's turns, each held at its critical point. Their text is in src/runner/thread.ts. */
import { describe, expect, test, vi } from 'vitest'
import { MemoryData } from '../../src/storage/memory.js'
import { agent, attentive, createThread, deferred, startProcess } from '../support/turns.js'

describe('I7 one turn of a thread at a time, whichever process carries it out', () => {
  test('two processes with many messages never carry out two turns of one thread at once', async () => {
    const data = new MemoryData()
    let underWay = 0
    const most: number[] = []
    const counting = agent(async function* () {
      most.push(++underWay)
      await new Promise((resolve) => setTimeout(resolve, 2))
      underWay--
      yield { type: 'reply', content: 'done' }
    })
    const processes = [startProcess(data, counting), startProcess(data, counting)] as const
    await createThread(processes[0].workspace)
    await Promise.all(
      Array.from({ length: 20 }, (_, n) => processes[n % 2 === 0 ? 0 : 1].say(`m${n}`, `m${n}`)),
    )
    await vi.waitFor(() => expect(most).toHaveLength(20), 20_000)
    expect(Math.max(...most)).toBe(1)
    await Promise.all(processes.map(({ runner }) => runner.drain()))
  })
})

describe('I8 a thread is not let go with more asked than taken, unless somebody will look again', () => {
  test('a message that arrives between the last look and the release is taken', async () => {
    const data = new MemoryData()
    const heard: string[] = []
    const holding = startProcess(data, attentive(heard))
    const other = startProcess(data, attentive(heard))
    await createThread(holding.workspace)
    const releasing = deferred()
    const proceed = deferred()
    holding.storage.before.releaseLease = () => {
      releasing.resolve()
      return proceed.promise
    }
    await holding.say('one', 'm1')
    await releasing.promise
    expect((await other.say('two', 'm2')).runId).toBeNull()
    await other.runner.drain()
    expect(heard).toEqual(['one'])
    proceed.resolve()
    await holding.runner.drain()
    expect(heard).toEqual(['one', 'two'])
  })
})
