/**
 * The echo agent: deterministic, so that everything about turns can be tried without a model. It replies `You said: <prompt>`, as text
 * deltas. A prompt may start with a command: `/ask <question>`, `/approve <action>`, `/slow <milliseconds>`, `/fail`, `/note <text>`.
 */
import { setTimeout as pause } from 'node:timers/promises'
import type { DeferredRequest } from '../../core/entities.js'
import type { Agent, Answered, Step, Turn } from '../agent.js'

type Steps = AsyncGenerator<Step, void, void>

export const echoAgent: Agent = {
  name: 'echo',
  async *run(turn) {
    if (turn.prompt === null) return yield* say(turn.answers.map(describe).join('\n'))
    const [, command = '', rest = ''] = /^\/(\w+)\s*(.*)$/s.exec(turn.prompt) ?? []
    if (command === 'fail') throw new Error('told to fail')
    const behaviour = behaviours[command]
    yield* behaviour === undefined ? say(`You said: ${turn.prompt}`) : behaviour(rest, turn)
  },
}

const behaviours: Partial<Record<string, (rest: string, turn: Turn) => Steps>> = {
  async *ask(question, turn) {
    yield { type: 'pause', requests: [{ ...request(turn, 'ask'), kind: 'question', args: { question } }] }
  },

  async *approve(action, turn) {
    yield { type: 'pause', requests: [{ ...request(turn, 'approve'), kind: 'approval', args: { action } }] }
  },

  /** Takes its time, in steps short enough to be stopped between them. */
  async *slow(rest, turn) {
    const asked = Number.parseInt(rest, 10)
    const duration = Number.isNaN(asked) ? 1_000 : Math.min(asked, LONGEST)
    const until = Date.now() + duration
    const steered: string[] = []
    while (Date.now() < until && !turn.signal.aborted) {
      await pause(Math.min(Math.max(STEP, duration / STEPS), Math.max(0, until - Date.now())), undefined, {
        signal: turn.signal,
      })
      steered.push(...(await turn.steering()))
    }
    yield* say([`You said: /slow ${rest}`, ...steered.map((message) => `Steered by: ${message}`)].join('\n'))
  },

  async *note(text, turn) {
    const toolCallId = `call_${turn.runId}`
    yield { type: 'tool_called', toolCallId, toolName: 'create_note', argsSummary: text }
    const { outcome } = await turn.workspace.commit({
      type: 'create_artifact',
      kind: 'note',
      data: { title: text, text },
    })
    const summary = outcome.type === 'applied' ? `created ${outcome.artifactId}` : `proposed`
    yield { type: 'tool_returned', toolCallId, status: 'ok', summary }
    yield* say(`Noted: ${text}`)
  },
}

/** The longest it takes, in milliseconds. */
const LONGEST = 600_000

/** How long it sleeps at a time at least, in milliseconds, and how often at most. */
const STEP = 100
const STEPS = 100

const request = ({ runId }: Turn, toolName: string): Pick<DeferredRequest, 'toolCallId' | 'toolName'> => ({
  toolCallId: `${toolName}_${runId}`,
  toolName,
})

/** The most deltas of a text. */
const DELTAS = 100

/** Streams a text by its words, several at a time where they are many, then posts it. */
async function* say(text: string): Steps {
  const words = text.match(/\S+\s*|\s+/g) ?? []
  const atATime = Math.ceil(words.length / DELTAS)
  yield { type: 'part_started', part: 0, kind: 'text' }
  for (let n = 0; n < words.length; n += atATime)
    yield { type: 'text_delta', part: 0, delta: words.slice(n, n + atATime).join('') }
  yield { type: 'part_ended', part: 0 }
  yield { type: 'reply', content: text }
}

const describe = ({ request, answer }: Answered): string => {
  const text = typeof answer.answer === 'string' ? answer.answer : JSON.stringify(answer.answer ?? null)
  switch (request.kind) {
    case 'question':
      return `You answered: ${text}`
    case 'approval':
      if (answer.approved === true) return 'Approved'
      return answer.answer === undefined ? 'Declined' : `Declined: ${text}`
  }
}
