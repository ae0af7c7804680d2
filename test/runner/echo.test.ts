/** The echo agent, by which everything about turns can be tried without a model. */
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Actor } from '../../src/core/actors.js'
import { echoAgent } from '../../src/runner/agents/echo.js'
import { Runner } from '../../src/runner/runner.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import type { Window } from '../../src/storage/port.js'
import type { Workspace } from '../../src/workspace/workspace.js'
import { Workspaces } from '../../src/workspace/workspaces.js'

const ada: Actor = { kind: 'user', id: 'ada' }
const all: Window = { limit: 200, from: 'start' }

let runner: Runner
let workspace: Workspace
const errors: unknown[] = []

beforeEach(async () => {
  const workspaces = new Workspaces(new MemoryStorage())
  runner = new Runner({ workspaces, agent: echoAgent, onError: (error) => errors.push(error) })
  workspace = workspaces.open('acme', 'w1', { actor: ada })
  await workspace.commit({ type: 'create_thread', threadId: 't1' })
})

afterEach(async () => {
  await runner.close()
  expect(errors).toEqual([])
})

const say = (content: string) => runner.send(workspace, { type: 'post_message', threadId: 't1', content })

const replies = async (): Promise<string[]> =>
  (await workspace.messages('t1', all)).entries
    .filter(({ actor }) => actor.kind === 'agent')
    .map(({ event }) => event.content)

const runs = async () => (await workspace.runs({}, all)).entries.map(({ entity }) => entity)

const log = async (): Promise<string[]> =>
  (await workspace.events({}, all)).entries.map(({ event }) => event.type)

describe('the echo agent', () => {
  test('replies what was said', async () => {
    const { runId } = await say('hello')
    await runner.drain()
    expect(await replies()).toEqual(['You said: hello'])
    expect(await log()).toEqual([
      'thread_created',
      'message_posted',
      'run_started',
      'message_posted',
      'run_ended',
    ])
    expect(await runs()).toMatchObject([{ id: runId, threadId: 't1', status: 'completed' }])
  })

  test('pauses on a question, and replies with the answer', async () => {
    const { runId } = await say('/ask Which colour?')
    await runner.drain()
    const [run] = await runs()
    expect(run).toMatchObject({
      id: runId,
      status: 'paused',
      pending: [{ kind: 'question', args: { question: 'Which colour?' } }],
    })
    const toolCallId = run?.pending[0]?.toolCallId ?? ''
    const { resumed } = await runner.answer(workspace, {
      type: 'answer_deferred',
      runId: run?.id ?? '',
      toolCallId,
      answer: 'blue',
    })
    expect(resumed).toBe(true)
    await runner.drain()
    expect(await replies()).toEqual(['You answered: blue'])
    expect(await runs()).toMatchObject([{ id: runId, status: 'completed' }])
  })

  test('pauses on an approval, which a message declines with it as the reason', async () => {
    const first = await say('/approve Send it?')
    await runner.drain()
    const second = await say('not today')
    expect(second.runId).toBe(first.runId)
    await runner.drain()
    expect(await replies()).toEqual(['Declined: not today'])
  })

  test('mentions what steered it', async () => {
    const { runId } = await say('/slow 400')
    expect((await say('faster')).runId).toBeNull()
    await runner.drain()
    expect(await replies()).toEqual(['You said: /slow 400\nSteered by: faster'])
    expect(await runs()).toMatchObject([{ id: runId, status: 'completed' }])
  })

  test('can be stopped', async () => {
    const { runId } = await say('/slow 60000')
    expect(await runner.stop(workspace, runId ?? '')).toMatchObject({ status: 'stopped' })
    await runner.drain()
    expect(await replies()).toEqual([])
    expect((await log()).filter((type) => type === 'run_ended')).toHaveLength(1)
  })

  test('fails when told to, and the thread goes on', async () => {
    await say('/fail')
    await runner.drain()
    await say('hello')
    await runner.drain()
    expect((await runs()).map(({ status }) => status)).toEqual(['failed', 'completed'])
    expect(await replies()).toEqual(['You said: hello'])
  })

  test('notes', async () => {
    await say('/note Buy milk')
    await runner.drain()
    const { entries } = await workspace.artifacts({ includeArchived: false }, all)
    expect(entries).toMatchObject([
      { entity: { kind: 'note', data: { text: 'Buy milk' }, updatedBy: { kind: 'agent' } } },
    ])
  })
})
