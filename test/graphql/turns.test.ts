/** Turns as a client sees them: the run a message starts, answers, and stopping. */
import { afterEach, describe, expect, it } from 'vitest'
import type { Agent } from '../../src/runner/agent.js'
import { echoAgent } from '../../src/runner/agents/echo.js'
import { deferred } from '../support/turns.js'
import { at, createThread, type Gateway, gateway, mutate } from './gateway.js'

let opened: Gateway | undefined

const withThread = async (agent: Agent = echoAgent): Promise<Gateway> => {
  opened = gateway({ agent })
  await createThread(opened, 't1')
  return opened
}

afterEach(async () => {
  await opened?.runner.close()
})

const say = (gateway: Gateway, content: string, input: Record<string, unknown> = {}) =>
  mutate(
    gateway,
    'postMessage',
    { threadId: 't1', content, ...input },
    '... on PostMessageSuccess { seq run { runId status } }',
  )

const thread = async ({ run }: Gateway) =>
  at(
    await run(`{ workspace(workspaceId: "w1") { thread(threadId: "t1") {
      activeRun { runId status pending { toolCallId kind args answered } }
      messages { edges { node { content author { kind displayName } run { runId } } } }
    } } }`),
    'workspace',
    'thread',
  )

const contents = async (gateway: Gateway) => {
  const edges = at(await thread(gateway), 'messages', 'edges')
  return Array.isArray(edges) ? edges.map((edge) => at(edge, 'node', 'content')) : []
}

describe('a message', () => {
  it('answers with the run it started, whose reply is in the thread', async () => {
    const gateway = await withThread()
    const runId = at(await say(gateway, 'hello'), 'run', 'runId')
    await gateway.runner.drain()
    expect(at(await thread(gateway), 'activeRun')).toBeNull()
    expect(at(await thread(gateway), 'messages', 'edges', 1, 'node')).toEqual({
      content: 'You said: hello',
      author: { kind: 'AGENT', displayName: 'echo' },
      run: { runId },
    })
  })

  it('with a used id starts no run, however often it comes', async () => {
    const gateway = await withThread()
    await say(gateway, 'hello', { messageId: 'm1' })
    await gateway.runner.drain()
    const repeats = await Promise.all(
      Array.from({ length: 20 }, () => say(gateway, 'hello', { messageId: 'm1' })),
    )
    expect(repeats.map((repeat) => at(repeat, 'reason'))).toEqual(Array(20).fill('ALREADY_EXISTS'))
    await gateway.runner.drain()
    expect(await contents(gateway)).toEqual(['hello', 'You said: hello'])
  })

  it('with a commandId that comes back answers with the run it started the first time', async () => {
    const gateway = await withThread()
    const first = await say(gateway, 'hello', { commandId: 'c1' })
    await gateway.runner.drain()
    const repeat = await say(gateway, 'hello', { commandId: 'c1' })
    expect(at(repeat, 'run', 'runId')).toBe(at(first, 'run', 'runId'))
    await gateway.runner.drain()
    expect(await contents(gateway)).toEqual(['hello', 'You said: hello'])
  })

  it('that steers a run has none of its own, and neither has a notice', async () => {
    const proceed = deferred()
    const gateway = await withThread({
      async *run(turn) {
        await proceed.promise
        yield* echoAgent.run(turn)
      },
    })
    await say(gateway, '/slow 300')
    expect(at(await say(gateway, 'faster'), 'run')).toBeNull()
    expect(at(await say(gateway, 'just so you know', { kind: 'NOTICE' }), 'run')).toBeNull()
    proceed.resolve()
    await gateway.runner.drain()
    expect((await contents(gateway)).at(-1)).toBe('You said: /slow 300\nSteered by: faster')
  })
})

describe('a paused run', () => {
  it('goes on with the last answer', async () => {
    const gateway = await withThread()
    await say(gateway, '/ask Which colour?')
    await gateway.runner.drain()
    const active = at(await thread(gateway), 'activeRun')
    expect(active).toMatchObject({
      status: 'PAUSED',
      pending: [{ kind: 'QUESTION', args: { question: 'Which colour?' }, answered: false }],
    })
    const answer = {
      runId: at(active, 'runId'),
      toolCallId: at(active, 'pending', 0, 'toolCallId'),
      answer: 'blue',
    }
    const answered = await mutate(
      gateway,
      'answerDeferred',
      answer,
      '... on AnswerDeferredSuccess { resumed run { runId } }',
    )
    expect(answered).toMatchObject({ resumed: true, run: { runId: answer.runId } })
    await gateway.runner.drain()
    expect((await contents(gateway)).at(-1)).toBe('You answered: blue')
    const again = await mutate(gateway, 'answerDeferred', answer)
    expect(again).toMatchObject({ __typename: 'InvalidState', reason: 'NOT_PAUSED' })
  })
})

describe('stopRun', () => {
  it('ends a run, and to stop it again changes nothing', async () => {
    const gateway = await withThread()
    const runId = at(await say(gateway, '/slow 60000'), 'run', 'runId')
    const stop = () => mutate(gateway, 'stopRun', { runId }, '... on StopRunSuccess { run { runId status } }')
    const stopped = { __typename: 'StopRunSuccess', run: { runId, status: 'STOPPED' } }
    expect(await stop()).toEqual(stopped)
    await gateway.runner.drain()
    expect(await stop()).toEqual(stopped)
    expect(await contents(gateway)).toEqual(['/slow 60000'])
  })

  it('of a run that is not there is NotFound, and an id that is none is ValidationFailed', async () => {
    const gateway = await withThread()
    expect(await mutate(gateway, 'stopRun', { runId: 'r9' })).toMatchObject({
      __typename: 'NotFound',
      missing: 'run',
      missingId: 'r9',
    })
    expect(await mutate(gateway, 'stopRun', { runId: '\u0000' })).toMatchObject({
      __typename: 'ValidationFailed',
      issues: [{ path: ['runId'] }],
    })
  })
})
