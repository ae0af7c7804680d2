/** I6: however an agent behaves, its run ends or pauses, and the thread goes on. */
import { describe, expect, test } from 'vitest'
import { defineDomain } from '../../src/core/context.js'
import type { Agent, Step } from '../../src/runner/agent.js'
import { Runner } from '../../src/runner/runner.js'
import { MemoryData, MemoryStorage } from '../../src/storage/memory.js'
import { Workspaces } from '../../src/workspace/workspaces.js'
import {
  ada,
  agent,
  createThread,
  deferred,
  endings,
  eventTypes,
  replies,
  runs,
  startProcess,
} from '../support/turns.js'

/** Behaves so the first time, and well from then on. */
const once = (behaviour: Agent['run']): Agent => {
  let isFirst = true
  return {
    run: (turn) => {
      if (!isFirst) return steps({ type: 'reply', content: 'well' })
      isFirst = false
      return behaviour(turn)
    },
  }
}

async function* steps(...all: Step[]): AsyncIterable<Step> {
  yield* all
}

const behaviours: readonly [string, Agent['run'], (string | null)[], string[]][] = [
  [
    'throws',
    async function* () {
      yield { type: 'text_delta', part: 0, delta: '…' }
      throw new Error('out of ideas')
    },
    ['failed', 'agent_failed'],
    [],
  ],
  [
    'throws before it begins',
    () => {
      throw new Error('out of ideas')
    },
    ['failed', 'agent_failed'],
    [],
  ],
  [
    'throws what is no error, with text that may not be stored',
    () => {
      throw 'half \ud800 and nothing \u0000'
    },
    ['failed', 'agent_failed'],
    [],
  ],
  ['yields nothing', () => steps(), ['completed', null], []],
  [
    'hangs',
    async function* () {
      yield { type: 'text_delta', part: 0, delta: '…' }
      await new Promise(() => undefined)
    },
    ['failed', 'timeout'],
    [],
  ],
  [
    'pauses with no request',
    () => steps({ type: 'pause', requests: [] }),
    ['failed', 'validation_failed'],
    [],
  ],
  [
    'calls a tool by no id',
    () => steps({ type: 'tool_called', toolCallId: '', toolName: 'x', argsSummary: '' }),
    ['failed', 'validation_failed'],
    [],
  ],
  ['replies with nothing', () => steps({ type: 'reply', content: '' }), ['completed', null], []],
  [
    'replies with U+0000',
    () => steps({ type: 'reply', content: 'a\u0000b' }),
    ['completed', null],
    ['a\ufffdb'],
  ],
  [
    'replies with half a surrogate pair',
    () => steps({ type: 'reply', content: '\ud83da' }),
    ['completed', null],
    ['\ufffda'],
  ],
]

describe('the thread goes on after an agent that', () => {
  test.each(behaviours)('%s', async (_, behaviour, ending, said) => {
    const { workspace, say, runner, errors } = startProcess(new MemoryData(), once(behaviour), {
      stepTimeout: 50,
    })
    await createThread(workspace)
    await say('hello', 'm1')
    await runner.drain()
    expect(await endings(workspace)).toEqual([ending])
    expect(await replies(workspace)).toEqual(said)
    await say('again', 'm2')
    await runner.drain()
    expect((await runs(workspace)).map(({ status }) => status)).toEqual([ending[0], 'completed'])
    expect(await replies(workspace)).toEqual([...said, 'well'])
    expect(errors).toEqual([])
  })

  test('says too much for one message, which is then several, none cut within a character', async () => {
    const definitions = defineDomain({ maxMessageLength: 4 })
    const workspaces = new Workspaces(new MemoryStorage(), { definitions })
    const runner = new Runner({
      workspaces,
      agent: agent(() => steps({ type: 'reply', content: 'abc\u{1f600}defg' })),
    })
    const workspace = workspaces.open('acme', 'w1', { actor: ada })
    await createThread(workspace)
    await runner.send(workspace, { type: 'post_message', threadId: 't1', content: 'hi' })
    await runner.drain()
    expect(await replies(workspace)).toEqual(['abc', '\u{1f600}de', 'fg'])
  })

  test('goes on yielding after it was stopped', async () => {
    const started = deferred<string>()
    const proceed = deferred()
    const finished = deferred()
    const stubborn: Agent['run'] = async function* ({ runId }) {
      try {
        started.resolve(runId)
        await proceed.promise
        yield { type: 'reply', content: 'I was not listening' }
        yield { type: 'reply', content: 'and go on' }
      } finally {
        finished.resolve()
      }
    }
    const { workspace, say, runner } = startProcess(new MemoryData(), once(stubborn))
    await createThread(workspace)
    await say('hello', 'm1')
    await runner.stop(workspace, await started.promise)
    await runner.drain()
    proceed.resolve()
    await finished.promise
    expect(await replies(workspace)).toEqual([])
    expect(await eventTypes(workspace)).toEqual([
      'thread_created',
      'message_posted',
      'run_started',
      'run_ended',
    ])
  })
})

test('usage and history are kept with the end of the run, and history is given back', async () => {
  const seen: (number[] | null)[] = []
  const remembering = agent(async function* ({ history }) {
    seen.push(history && [...history])
    yield { type: 'history', history: new Uint8Array([...(history ?? []), 7]) }
    yield { type: 'usage', usage: { requests: 1, inputTokens: 2, outputTokens: 3 } }
    yield { type: 'reply', content: 'ok' }
  })
  const { workspace, say, runner } = startProcess(new MemoryData(), remembering)
  await createThread(workspace)
  for (const id of ['m1', 'm2', 'm3']) {
    await say('hello', id)
    await runner.drain()
  }
  expect(seen).toEqual([null, [7], [7, 7]])
  const { entries } = await workspace.events({ types: ['run_ended'] }, { limit: 1, from: 'start' })
  const [ended] = entries
  expect(ended?.event).toMatchObject({ usage: { requests: 1, inputTokens: 2, outputTokens: 3 } })
})

test('an agent learns what others changed since it was last at work', async () => {
  const notes: string[][] = []
  const curious = agent(async function* ({ changeNotes, workspace }) {
    notes.push((await changeNotes()).map(({ artifactId, action }) => `${artifactId} ${action}`))
    await workspace.commit({ type: 'create_artifact', kind: 'note', data: { title: 'mine' } })
    yield { type: 'reply', content: 'ok' }
  })
  const { workspace, say, runner } = startProcess(new MemoryData(), curious)
  await createThread(workspace)
  const create = (artifactId: string) =>
    workspace.commit({ type: 'create_artifact', artifactId, kind: 'note', data: { title: 'theirs' } })
  await create('a1')
  await say('hello', 'm1')
  await runner.drain()
  await create('a2')
  await say('hello', 'm2')
  await runner.drain()
  expect(notes).toEqual([['a1 created'], ['a2 created']])
})
