/**
 * What a thread's next turn is, and its taking. The invariants (domain §11), each with tests of its name:
 *
 * I1 Each message is taken by one turn, in the order of the log.
 * I2 What takes a message and that it is taken are one transaction.
 * I3 A message in a paused thread is its reply.
 * I4 A run that its holder left behind ends as `failed`, reason `abandoned`, and its message is not taken again.
 */
import type { Actor, AgentActor } from '../core/actors.js'
import type { Run } from '../core/entities.js'
import type { Envelope, Seq } from '../core/envelopes.js'
import { InvalidState } from '../core/rejections.js'
import { answersOfReply, canResume, isTakenByTurn } from '../core/turns.js'
import { newId } from '../workspace/ids.js'
import type { Within, Workspace } from '../workspace/workspace.js'
import type { Answered } from './agent.js'

/** What the runner itself records. */
export const runnerActor: Actor = { kind: 'system', name: 'runner' }

/** A turn that has begun: its run is started, and what it begins with is taken. */
export interface Taken {
  readonly runId: string
  /** Where what it began with stands in the log. */
  readonly seq: Seq
  readonly prompt: string | null
  readonly answers: readonly Answered[]
  readonly traceparent: string | undefined
}

/** How many events are looked at in one read. */
const PAGE = 50

export const agentActor = (
  threadId: string,
  runId: string,
  name: string,
): AgentActor & { readonly runId: string } => ({
  kind: 'agent',
  threadId,
  runId,
  name,
})

/** Begins the thread's next turn, or returns `null` when none is owed. Only for who holds the thread. */
export const takeNext = async (
  workspace: Workspace,
  threadId: string,
  agentName: string,
  onAbandoned: (runId: string) => void,
): Promise<Taken | null> => {
  for (;;) {
    const active = await activeRun(workspace, threadId)
    if (active?.status === 'running' && (await abandon(workspace, active.id))) onAbandoned(active.id)
    const { asked, taken } = await turnPositions(workspace, threadId)
    if (asked <= taken) return null
    const ask = await oldestAsk(workspace, threadId, taken)
    if (ask === null) {
      await workspace.transact((within) => within.advance(threadId, { taken: asked }))
      return null
    }
    const turn = await workspace.transact(
      async (within) => {
        const positions = await within.turnPositions(threadId)
        if (positions.taken !== taken) return null
        await within.advance(threadId, { taken: ask.seq })
        return begin(within, ask, threadId, active?.id, agentName)
      },
      { traceparent: ask.traceparent, expected: { turns: [threadId] } },
    )
    if (turn !== null) return turn
  }
}

/** Takes the oldest message that waits while a run is active, and returns what it says; `null` when none waits (I1, I2). */
export const takeSteering = async (workspace: Workspace, threadId: string): Promise<string | null> => {
  for (;;) {
    const { asked, taken } = await turnPositions(workspace, threadId)
    const ask = asked <= taken ? null : await oldestAsk(workspace, threadId, taken)
    if (ask === null) return null
    const isMine = await workspace.transact(
      async (within) => {
        const positions = await within.turnPositions(threadId)
        if (positions.taken !== taken) return false
        await within.advance(threadId, { taken: ask.seq })
        return true
      },
      { expected: { turns: [threadId] } },
    )
    if (isMine && ask.event.type === 'message_posted' && 'content' in ask.event) return ask.event.content
  }
}

const turnPositions = (workspace: Workspace, threadId: string) =>
  workspace.transact((within) => within.turnPositions(threadId), { expected: { turns: [threadId] } })

const activeRun = async (workspace: Workspace, threadId: string): Promise<Run | null> => {
  const filter = { threadId, statuses: ['running', 'paused'] } as const
  const { entries } = await workspace.runs(filter, { limit: 1, from: 'end' })
  const [run] = entries
  return run?.entity ?? null
}

/** Whoever holds the thread and is not carrying it out found it left behind (I4). */
const abandon = async (workspace: Workspace, runId: string): Promise<boolean> => {
  const fact = { type: 'run_ended', runId, status: 'failed', reason: 'abandoned' } as const
  try {
    await workspace.asActor(runnerActor).record(fact)
    return true
  } catch (error) {
    // It has ended meanwhile, by itself or by another.
    if (error instanceof InvalidState) return false
    throw error
  }
}

const oldestAsk = async (workspace: Workspace, threadId: string, taken: Seq): Promise<Envelope | null> => {
  for (let after = taken; ; ) {
    const filter = { threadId, types: ['message_posted', 'deferred_answered'] } as const
    const { entries } = await workspace.events(filter, { after, limit: PAGE, from: 'start' })
    const ask = entries.find(isTakenByTurn)
    const last = entries.at(-1)
    if (ask !== undefined || last === undefined) return ask ?? null
    after = last.seq
  }
}

/** Starts or resumes the run that an event asks for; `null` when it asks for none any more. */
const begin = async (
  within: Within,
  ask: Envelope,
  threadId: string,
  activeId: string | undefined,
  agentName: string,
): Promise<Taken | null> => {
  const { event, seq, traceparent } = ask
  const message = event.type === 'message_posted' && 'content' in event ? event : null
  const agent = (runId: string) => agentActor(threadId, runId, agentName)
  const paused = activeId === undefined ? null : await runIn(within, activeId)
  if (paused?.status === 'paused') {
    if (message !== null) await reply(within.asActor(ask.actor), paused, message.content)
    const answered = await runIn(within, paused.id)
    if (answered === null || !canResume(answered)) return null
    await start(within, agent(paused.id), 'resume', message?.messageId)
    return { runId: paused.id, seq, prompt: null, answers: pair(answered), traceparent }
  }
  if (message === null) return null
  const runId = newId('run')
  await start(within, agent(runId), 'message', message.messageId)
  return { runId, seq, prompt: message.content, answers: [], traceparent }
}

const runIn = async (within: Within, id: string): Promise<Run | null> => {
  const { runs } = await within.load({ runs: [id] })
  return runs.get(id) ?? null
}

/** Answers what is open with a message (I3). */
const reply = async (within: Within, { id: runId, ...run }: Run, content: string): Promise<void> => {
  for (const answer of answersOfReply({ id: runId, ...run }, content)) {
    await within.commit({ type: 'answer_deferred', runId, ...answer })
  }
}

const start = (
  within: Within,
  agent: AgentActor & { readonly runId: string },
  trigger: 'message' | 'resume',
  messageId: string | undefined,
): Promise<unknown> => {
  const { runId, threadId } = agent
  return within.asActor(agent).record({ type: 'run_started', runId, threadId, trigger, messageId })
}

const pair = ({ pending, answers }: Run): Answered[] =>
  pending.flatMap((request) => {
    const answer = answers.find(({ toolCallId }) => toolCallId === request.toolCallId)
    return answer === undefined ? [] : [{ request, answer }]
  })

/** Whether a turn has taken what stands at a position of the log. */
export const isTaken = async (workspace: Workspace, threadId: string, seq: Seq): Promise<boolean> =>
  (await turnPositions(workspace, threadId)).taken >= seq

/** The run that a message started or resumed, or `null`. */
export const runOfMessage = async (
  workspace: Workspace,
  threadId: string,
  { event, seq }: Envelope,
): Promise<string | null> => {
  if (event.type !== 'message_posted' || !('messageId' in event)) return null
  const window = { after: seq, limit: PAGE, from: 'start' } as const
  const { entries } = await workspace.events({ threadId, types: ['run_started'] }, window)
  for (const { event: started } of entries) {
    const isItsRun =
      started.type === 'run_started' && 'runId' in started && started.messageId === event.messageId
    if (isItsRun) return started.runId
  }
  return null
}
