/** The echo agent, and under `/all` everything an agent can do in a turn. */
import { setTimeout as pause } from 'node:timers/promises'
import { z } from 'zod'
import { checklist, defineArtifact, defineFeedback, echoAgent, helpfulness, note } from '../../src/index.js'
import type { Agent, Step, Turn } from '../../src/runner/agent.js'

async function* everything({ runId, prompt, history, changeNotes }: Turn): AsyncGenerator<Step> {
  yield { type: 'part_started', part: 0, kind: 'reasoning' }
  yield {
    type: 'reasoning_delta',
    part: 0,
    delta: `${(await changeNotes()).length} changes; ${history?.length ?? 0}`,
  }
  yield { type: 'part_ended', part: 0 }
  yield { type: 'part_started', part: 1, kind: 'tool_call', toolName: 'draw' }
  yield { type: 'tool_args_delta', part: 1, delta: '{}' }
  yield { type: 'part_ended', part: 1 }
  const call = { toolCallId: `draw_${runId}`, toolName: 'draw' }
  yield { type: 'tool_called', ...call, argsSummary: prompt ?? '' }
  yield { type: 'artifact_draft', kind: 'note', data: { title: 'draft' } }
  yield { type: 'app_live', name: 'progress', data: { done: 1 } }
  yield { type: 'tool_returned', toolCallId: call.toolCallId, status: 'retry', summary: '' }
  yield { type: 'usage', usage: { requests: 1, inputTokens: 2, outputTokens: 3 } }
  yield { type: 'history', history: new TextEncoder().encode(prompt ?? '') }
  yield { type: 'part_started', part: 2, kind: 'text' }
  yield { type: 'text_delta', part: 2, delta: 'done' }
  yield { type: 'part_ended', part: 2 }
  // Long enough to be watched.
  await pause(30)
  yield { type: 'reply', content: 'done' }
  if ((prompt?.length ?? 0) % 2 === 0) return
  const asked = { ...call, args: { prompt } }
  yield {
    type: 'pause',
    requests: [
      { ...asked, toolCallId: `ask_${runId}`, kind: 'question' },
      { ...asked, toolCallId: `approve_${runId}`, kind: 'approval' },
    ],
  }
}

export const busyAgent: Agent = {
  name: 'busy',
  run: (turn) => (turn.prompt?.startsWith('/all') === true ? everything(turn) : echoAgent.run(turn)),
}

/** What the gateways that are fuzzed define: the built-in types, one that takes any JSON, and feedback on artifacts. */
export const definitions = {
  artifacts: [note, checklist, defineArtifact({ kind: 'free', schema: z.looseObject({}) })],
  feedback: [
    helpfulness,
    defineFeedback({ name: 'mark', targets: ['artifact', 'thread'], schema: z.looseObject({}) }),
  ],
}

/** The busy agent, whose turns take long enough to be under way at the same time. */
export const unhurriedAgent: Agent = {
  name: 'busy',
  async *run(turn) {
    await pause(5)
    yield* busyAgent.run(turn)
  },
}
