/** The invariants of turns, each held at its critical point. Their text is in src/runner; I6 to I8 are in files of their own. */
import { describe, expect, test, vi } from 'vitest'
import { InvalidState } from '../../src/core/rejections.js'
import { MemoryData } from '../../src/storage/memory.js'
import {
  agent,
  all,
  attentive,
  createThread,
  deferred,
  endings,
  eventTypes,
  replies,
  runs,
  startProcess,
} from '../support/turns.js'

/** Has a process look for what was left behind until it has ended the one run there is. */
const abandonedBy = ({ runner, workspace }: ReturnType<typeof startProcess>) =>
  vi.waitFor(async () => {
    await runner.recover()
    await runner.drain()
    expect(await endings(workspace)).toEqual([['failed', 'abandoned']])
  }, 20_000)

describe('I1 each message is taken by one turn, in the order of the log', () => {
  test('twelve messages sent at once by two processes are each a prompt or a steering, none twice, none lost', async () => {
    const data = new MemoryData()
    const heard: string[] = []
    const processes = [startProcess(data, attentive(heard)), startProcess(data, attentive(heard))] as const
    await createThread(processes[0].workspace)
    const sent = Array.from({ length: 12 }, (_, n) => `m${n}`)
    await Promise.all(sent.map((content, n) => processes[n % 2 === 0 ? 0 : 1].say(content, content)))
    await vi.waitFor(() => expect(heard).toHaveLength(12), 20_000)
    await Promise.all(processes.map(({ runner }) => runner.drain()))
    const posted = (await processes[0].workspace.messages('t1', all)).entries
      .filter(({ actor }) => actor.kind === 'user')
      .map(({ event }) => event.content)
    expect(heard).toEqual(posted)
    expect((await runs(processes[0].workspace)).every(({ status }) => status === 'completed')).toBe(true)
  })

  test('an agent that asks twice at once for what steers it gets each message once', async () => {
    const started = deferred()
    const proceed = deferred()
    const heard: string[] = []
    const impatient = agent(async function* ({ steering }) {
      started.resolve()
      await proceed.promise
      heard.push(...(await Promise.all([steering(), steering(), steering()])).flat())
      yield { type: 'reply', content: 'done' }
    })
    const { workspace, say, runner } = startProcess(new MemoryData(), impatient)
    await createThread(workspace)
    await say('hello', 'm0')
    await started.promise
    for (const id of ['m1', 'm2', 'm3', 'm4']) await say(id, id)
    proceed.resolve()
    await runner.drain()
    expect(heard.sort()).toEqual(['m1', 'm2', 'm3', 'm4'])
  })

  test('a message that was committed without the runner is taken by the next turn', async () => {
    const heard: string[] = []
    const { workspace, say, runner } = startProcess(new MemoryData(), attentive(heard))
    await createThread(workspace)
    await workspace.commit({ type: 'post_message', threadId: 't1', content: 'aside' })
    await runner.recover()
    await runner.drain()
    expect(heard).toEqual([])
    await say('question', 'question')
    await runner.drain()
    expect(heard).toEqual(['aside', 'question'])
  })
})

describe('I2 what takes a message and that it is taken are one transaction', () => {
  test('a process that dies between storing a message and starting its turn leaves the turn to another', async () => {
    const data = new MemoryData()
    const heard: string[] = []
    const dying = startProcess(data, attentive(heard))
    const other = startProcess(data, attentive(heard))
    await createThread(dying.workspace)
    const reached = deferred()
    dying.storage.before.acquireLease = () => {
      reached.resolve()
      return new Promise(() => undefined)
    }
    void dying.say('hello', 'm1')
    await reached.promise
    await other.runner.recover()
    await other.runner.drain()
    expect(heard).toEqual(['hello'])
    await expect(other.say('hello', 'm1')).rejects.toThrow(InvalidState)
    expect(await endings(other.workspace)).toEqual([['completed', null]])
  })

  test('a turn that fails before it starts takes nothing, and is begun again', async () => {
    const data = new MemoryData()
    const heard: string[] = []
    const { workspace, storage, say, runner, errors } = startProcess(data, attentive(heard))
    await createThread(workspace)
    storage.before.acquireLease = async () => {
      storage.before.transaction = async () => {
        throw new Error('the database is gone')
      }
    }
    await say('hello', 'm1')
    expect(errors).toContainEqual(new Error('the database is gone'))
    expect(heard).toEqual([])
    storage.before = {}
    await runner.drain()
    expect(heard).toEqual(['hello'])
    expect(await eventTypes(workspace)).toEqual([
      'thread_created',
      'message_posted',
      'run_started',
      'message_posted',
      'run_ended',
    ])
  })

  test('a steering message is left to the next turn when the agent does not ask for it', async () => {
    const proceed = deferred()
    const started = deferred()
    const heard: string[] = []
    const deaf = agent(async function* ({ prompt }) {
      heard.push(prompt ?? '')
      started.resolve()
      await proceed.promise
      yield { type: 'reply', content: 'done' }
    })
    const { workspace, say, runner } = startProcess(new MemoryData(), deaf)
    await createThread(workspace)
    const first = await say('one', 'm1')
    await started.promise
    expect((await say('two', 'm2')).runId).toBeNull()
    proceed.resolve()
    await runner.drain()
    expect(heard).toEqual(['one', 'two'])
    expect((await runs(workspace)).map(({ id }) => id)).toContain(first.runId)
    expect(await runs(workspace)).toHaveLength(2)
  })
})

describe('I3 a message in a paused thread is its reply', () => {
  test('open questions are answered with it, open approvals declined, and the run resumes', async () => {
    const answers: unknown[] = []
    const asking = agent(async function* (turn) {
      if (turn.prompt === null) {
        answers.push(
          ...turn.answers.map(({ request, answer }) => [request.kind, answer.answer, answer.approved]),
        )
        yield { type: 'reply', content: 'thanks' }
        return
      }
      yield {
        type: 'pause',
        requests: [
          { toolCallId: 'q1', toolName: 'ask', kind: 'question', args: {} },
          { toolCallId: 'q2', toolName: 'ask', kind: 'question', args: {} },
          { toolCallId: 'a1', toolName: 'approve', kind: 'approval', args: {} },
        ],
      }
    })
    const { workspace, say, runner } = startProcess(new MemoryData(), asking)
    await createThread(workspace)
    const { runId } = await say('hello', 'm1')
    await runner.drain()
    const answer = { type: 'answer_deferred', runId: runId ?? '', toolCallId: 'q1', answer: 1 } as const
    expect((await runner.answer(workspace, answer)).resumed).toBe(false)
    expect((await say('later', 'm2')).runId).toBe(runId)
    await runner.drain()
    expect(answers).toEqual([
      ['question', 1, undefined],
      ['question', 'later', undefined],
      ['approval', 'later', false],
    ])
    expect(await runs(workspace)).toMatchObject([{ id: runId, status: 'completed' }])
  })
})

describe('I4 a run that its holder left behind ends as abandoned, and its message is not taken again', () => {
  test('by a process that is already running, once the lease has lapsed', async () => {
    const data = new MemoryData()
    const heard: string[] = []
    const started = deferred()
    const hanging = agent(async function* ({ prompt }) {
      heard.push(prompt ?? '')
      started.resolve()
      yield { type: 'text_delta', part: 0, delta: '…' }
      await new Promise(() => undefined)
    })
    const dying = startProcess(data, hanging, { leaseTtl: 60 })
    const other = startProcess(data, attentive(heard))
    await createThread(dying.workspace)
    await dying.say('hello', 'm1')
    await started.promise
    dying.storage.die()
    await abandonedBy(other)
    await other.say('again', 'm2')
    await other.runner.drain()
    expect(heard).toEqual(['hello', 'again'])
    expect((await runs(other.workspace)).map(({ status }) => status)).toEqual(['failed', 'completed'])
  })
})

describe('I5 nothing is recorded for a run that is no longer running', () => {
  test('what a slow process says after it lost the thread is not recorded, and its agent is told', async () => {
    const data = new MemoryData()
    const started = deferred()
    const proceed = deferred()
    const outcome = deferred<unknown>()
    const told = deferred()
    const slow = agent(async function* ({ workspace, signal }) {
      signal.addEventListener('abort', () => told.resolve())
      started.resolve()
      await proceed.promise
      const note = { type: 'create_artifact', kind: 'note', data: { title: 'late' } } as const
      outcome.resolve(await workspace.commit(note).catch((error: unknown) => error))
      yield { type: 'reply', content: 'too late' }
    })
    const late = startProcess(data, slow, { leaseTtl: 60, watchEvery: 3_600_000 })
    const other = startProcess(data, attentive([]))
    await createThread(late.workspace)
    await late.say('hello', 'm1')
    await started.promise
    late.storage.before.acquireLease = () => new Promise(() => undefined)
    await abandonedBy(other)
    proceed.resolve()
    expect(await outcome.promise).toBeInstanceOf(Error)
    await told.promise
    await late.runner.drain()
    expect(await replies(other.workspace)).toEqual([])
    expect((await other.workspace.artifacts({ includeArchived: true }, all)).entries).toEqual([])
    expect(await endings(other.workspace)).toHaveLength(1)
  })

  test('a run that was stopped through another process is cut short', async () => {
    const data = new MemoryData()
    const started = deferred<string>()
    const aborted = deferred()
    const endless = agent(async function* ({ runId, signal }) {
      signal.addEventListener('abort', () => aborted.resolve())
      started.resolve(runId)
      yield { type: 'text_delta', part: 0, delta: '…' }
      await new Promise(() => undefined)
    })
    const here = startProcess(data, endless, { watchEvery: 10 })
    const there = startProcess(data, endless)
    await createThread(here.workspace)
    await here.say('hello', 'm1')
    const runId = await started.promise
    expect(await there.runner.stop(there.workspace, runId)).toMatchObject({ status: 'stopped' })
    await aborted.promise
    await here.runner.drain()
    expect(await endings(here.workspace)).toEqual([['stopped', 'stopped']])
    expect(await there.runner.stop(there.workspace, runId)).toMatchObject({ status: 'stopped' })
  })
})
