/** Runs: what the runner records of them, and the answers they wait for (domain §5). */
import type { Actor } from '../actors.js'
import type { CommandOf } from '../commands.js'
import type { DeferredRequest, Run, RunStatus } from '../entities.js'
import type { FactOf } from '../facts.js'
import { Forbidden, InvalidState, NotFound } from '../rejections.js'
import type { Rule } from '../rule.js'
import { type EventDraft, result, runIn, type State } from '../state.js'
import { existingThread } from './threads.js'

const recorded = { type: 'recorded' } as const

/** @throws NotFound */
export const existingRun = (state: State, id: string): Run => {
  const run = runIn(state, id)
  if (run === null) throw new NotFound('run', id)
  return run
}

/** @throws InvalidState when the run belongs to another thread. */
export const inThread = (run: Run, threadId: string): Run => {
  if (run.threadId === threadId) return run
  const about = { entity: 'run', id: run.id }
  throw new InvalidState('wrong_thread', `run ${run.id} does not belong to thread ${threadId}`, about)
}

/** Facts of a thread's runs are its own agent's, or the system's. @throws Forbidden */
const mayRecord = (actor: Actor, threadId: string): void => {
  if (actor.kind === 'system' || (actor.kind === 'agent' && actor.threadId === threadId)) return
  throw new Forbidden("a run is recorded by its thread's own agent or the system")
}

/** A run that a fact fits. @throws NotFound, Forbidden, InvalidState */
const recordable = (state: State, actor: Actor, id: string, statuses: readonly RunStatus[]): Run => {
  const run = existingRun(state, id)
  mayRecord(actor, run.threadId)
  if (statuses.includes(run.status)) return run
  throw new InvalidState('run_not_active', `run ${id} is ${run.status}`, { entity: 'run', id })
}

const draft = (event: EventDraft['event'], { id: runId, threadId }: Run): EventDraft => ({
  event,
  threadId,
  runId,
})

/** A run starts new, or resumes where it paused; what it asked and was answered stays on it until it pauses again or ends. */
export const startRun: Rule<FactOf<'run_started'>> = {
  needs: ({ runId, threadId }) => ({ runs: [runId], threads: [threadId] }),
  decide: (fact, state, { actor, traceId }) => {
    const { runId, threadId, trigger, messageId } = fact
    mayRecord(actor, threadId)
    existingThread(state, threadId)
    const earlier = trigger === 'resume' ? existingRun(state, runId) : runIn(state, runId)
    const { pending, answers, traceIds } = earlier === null ? fresh : paused(inThread(earlier, threadId))
    const traces = traceId === undefined || traceIds.includes(traceId) ? traceIds : [...traceIds, traceId]
    const run: Run = { id: runId, threadId, status: 'running', pending, answers, traceIds: traces }
    return result(
      recorded,
      [draft({ type: 'run_started', runId, threadId, trigger, messageId, traceId }, run)],
      {
        runs: [run],
      },
    )
  },
}

const fresh: Pick<Run, 'pending' | 'answers' | 'traceIds'> = { pending: [], answers: [], traceIds: [] }

/** @throws InvalidState */
const paused = (run: Run): Run => {
  if (run.status === 'paused') return run
  const about = { entity: 'run', id: run.id }
  throw new InvalidState('not_paused', `run ${run.id} is ${run.status}, not paused`, about)
}

export const callTool: Rule<FactOf<'tool_called' | 'tool_returned'>> = {
  needs: ({ runId }) => ({ runs: [runId] }),
  decide: (fact, state, { actor }) => {
    const run = recordable(state, actor, fact.runId, ['running'])
    return result(recorded, [draft({ ...fact, threadId: run.threadId }, run)])
  },
}

export const pauseRun: Rule<FactOf<'run_paused'>> = {
  needs: ({ runId }) => ({ runs: [runId] }),
  decide: ({ runId, requests }, state, { actor }) => {
    const run = recordable(state, actor, runId, ['running'])
    const { threadId } = run
    return result(recorded, [draft({ type: 'run_paused', runId, threadId, requests }, run)], {
      runs: [{ ...run, status: 'paused', pending: requests, answers: [] }],
    })
  },
}

export const endRun: Rule<FactOf<'run_ended'>> = {
  needs: ({ runId }) => ({ runs: [runId] }),
  decide: (fact, state, { actor }) => {
    const run = recordable(state, actor, fact.runId, ['running', 'paused'])
    return result(recorded, [draft({ ...fact, threadId: run.threadId }, run)], {
      runs: [{ ...run, status: fact.status, pending: [], answers: [] }],
    })
  },
}

export const answerDeferred: Rule<CommandOf<'answer_deferred'>> = {
  needs: ({ runId }) => ({ runs: [runId] }),
  decide: ({ runId, toolCallId, answer, approved }, state) => {
    const run = paused(existingRun(state, runId))
    const { threadId } = run
    const request = unanswered(run, toolCallId)
    fitting(request, answer !== undefined, approved !== undefined)
    const event = { type: 'deferred_answered', runId, threadId, toolCallId, answer, approved } as const
    return result(recorded, [draft(event, run)], {
      runs: [{ ...run, answers: [...run.answers, { toolCallId, answer, approved }] }],
    })
  },
}

/** @throws NotFound, InvalidState */
const unanswered = ({ pending, answers }: Run, id: string): DeferredRequest => {
  const request = pending.find(({ toolCallId }) => toolCallId === id)
  if (request === undefined) throw new NotFound('deferred request', id)
  if (answers.every(({ toolCallId }) => toolCallId !== id)) return request
  const about = { entity: 'deferred request', id }
  throw new InvalidState('already_answered', `deferred request ${id} is already answered`, about)
}

/**
 * An approval takes `approved`, and an answer beside it as the reason; a question takes an answer and nothing else. JSON `null` is an answer.
 *
 * @throws InvalidState
 */
const fitting = ({ kind, toolCallId: id }: DeferredRequest, answers: boolean, approves: boolean): void => {
  const about = { entity: 'deferred request', id }
  switch (kind) {
    case 'approval':
      if (approves) return
      throw new InvalidState(
        'wrong_answer',
        `deferred request ${id} is an approval: it takes approved`,
        about,
      )
    case 'question':
      if (answers && !approves) return
      throw new InvalidState(
        'wrong_answer',
        `deferred request ${id} is a question: it takes an answer`,
        about,
      )
  }
}
