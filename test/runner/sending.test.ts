/** What is sent to a runner, once and again, and what comes of it when it closes. */
import { describe, expect, test } from 'vitest'
import { MemoryData } from '../../src/storage/memory.js'
import {
  agent,
  attentive,
  createThread,
  deferred,
  endings,
  eventTypes,
  replies,
  runs,
  startProcess,
} from '../support/turns.js'

describe('a message that is refused', () => {
  test('starts and steers nothing: twenty retries while its turn runs, and twenty after', async () => {
    const proceed = deferred()
    const steered: string[] = []
    const waiting = agent(async function* ({ steering }) {
      await proceed.promise
      steered.push(...(await steering()))
      yield { type: 'reply', content: 'done' }
    })
    const data = new MemoryData()
    const { workspace, say, runner } = startProcess(data, waiting)
    await createThread(workspace)
    await say('hello', 'm1')
    const retry = () => Promise.allSettled(Array.from({ length: 20 }, () => say('hello', 'm1')))
    const during = await retry()
    proceed.resolve()
    await runner.drain()
    const after = await retry()
    await runner.drain()
    expect([...during, ...after].every(({ status }) => status === 'rejected')).toBe(true)
    expect(steered).toEqual([])
    expect(await eventTypes(workspace)).toEqual([
      'thread_created',
      'message_posted',
      'run_started',
      'message_posted',
      'run_ended',
    ])
  })
})

describe('a message that comes back with its commandId', () => {
  test('twenty times at once, through two processes, has one run, and each is told which', async () => {
    const data = new MemoryData()
    const heard: string[] = []
    const processes = [startProcess(data, attentive(heard)), startProcess(data, attentive(heard))] as const
    await createThread(processes[0].workspace)
    const command = { type: 'post_message', threadId: 't1', messageId: 'm1', content: 'hello' } as const
    const sent = await Promise.all(
      Array.from({ length: 20 }, (_, n) => {
        const { runner, workspace } = processes[n % 2 === 0 ? 0 : 1]
        return runner.send(workspace, command, { commandId: 'c1' })
      }),
    )
    await Promise.all(processes.map(({ runner }) => runner.drain()))
    const [run] = await runs(processes[0].workspace)
    expect(new Set(sent.map(({ runId }) => runId))).toEqual(new Set([run?.id]))
    expect(heard).toEqual(['hello'])
  })

  test('and so does an answer, with what it said of the run the first time', async () => {
    const asking = agent(async function* ({ prompt }) {
      if (prompt === null) yield { type: 'reply', content: 'thanks' }
      else
        yield { type: 'pause', requests: [{ toolCallId: 'q1', toolName: 'ask', kind: 'question', args: {} }] }
    })
    const { workspace, say, runner } = startProcess(new MemoryData(), asking)
    await createThread(workspace)
    const { runId } = await say('hello', 'm1')
    await runner.drain()
    const answer = { type: 'answer_deferred', runId: runId ?? '', toolCallId: 'q1', answer: 1 } as const
    const answers = await Promise.all(
      Array.from({ length: 6 }, () => runner.answer(workspace, answer, { commandId: 'c1' })),
    )
    await runner.drain()
    answers.push(await runner.answer(workspace, answer, { commandId: 'c1' }))
    expect(answers.map(({ resumed }) => resumed)).toEqual(Array(7).fill(true))
  })
})

describe('a run that was answered without the runner', () => {
  test('goes on when it is told to, once it has all it asked for', async () => {
    const asking = agent(async function* ({ prompt, answers }) {
      if (prompt === null) yield { type: 'reply', content: `got ${answers[0]?.answer.answer}` }
      else
        yield { type: 'pause', requests: [{ toolCallId: 'q1', toolName: 'ask', kind: 'question', args: {} }] }
    })
    const { workspace, say, runner } = startProcess(new MemoryData(), asking)
    await createThread(workspace)
    const { runId } = await say('hello', 'm1')
    await runner.drain()
    expect(await runner.resume(workspace, runId ?? '')).toBe(false)
    await workspace.commit({ type: 'answer_deferred', runId: runId ?? '', toolCallId: 'q1', answer: 7 })
    await runner.recover()
    await runner.drain()
    expect(await runs(workspace)).toMatchObject([{ status: 'paused' }])
    expect(await runner.resume(workspace, runId ?? '')).toBe(true)
    await runner.drain()
    expect(await replies(workspace)).toEqual(['got 7'])
  })
})

describe('a notice', () => {
  test('starts, steers and answers nothing', async () => {
    const proceed = deferred()
    const started = deferred()
    const heard: string[] = []
    const asking = agent(async function* ({ prompt, steering }) {
      heard.push(prompt ?? '')
      started.resolve()
      await proceed.promise
      heard.push(...(await steering()))
      yield { type: 'pause', requests: [{ toolCallId: 'c1', toolName: 'ask', kind: 'question', args: {} }] }
    })
    const { workspace, say, runner } = startProcess(new MemoryData(), asking)
    await createThread(workspace)
    const notice = async (content: string) => {
      const command = { type: 'post_message', threadId: 't1', content, kind: 'notice' } as const
      expect((await runner.send(workspace, command)).runId).toBeNull()
    }
    await notice('before')
    expect(await runs(workspace)).toEqual([])
    await say('hello', 'm1')
    await started.promise
    await notice('meanwhile')
    proceed.resolve()
    await runner.drain()
    await notice('paused')
    await runner.drain()
    expect(heard).toEqual(['hello'])
    expect(await runs(workspace)).toMatchObject([{ status: 'paused', answers: [] }])
  })
})

describe('a runner that closes', () => {
  test('stops its turn, and leaves what is owed to others', async () => {
    const data = new MemoryData()
    const heard: string[] = []
    const started = deferred()
    const endless = agent(async function* ({ prompt }) {
      heard.push(prompt ?? '')
      started.resolve()
      yield { type: 'text_delta', part: 0, delta: '…' }
      await new Promise(() => undefined)
    })
    const closing = startProcess(data, endless)
    const other = startProcess(data, attentive(heard))
    await createThread(closing.workspace)
    await closing.say('one', 'm1')
    await started.promise
    await closing.say('two', 'm2')
    await closing.runner.close()
    expect(await endings(other.workspace)).toEqual([['stopped', 'shutdown']])
    await other.runner.recover()
    await other.runner.drain()
    expect(heard).toEqual(['one', 'two'])
  })
})
