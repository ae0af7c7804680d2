/** What asks for a turn, and what a message answers (domain §11). */
import type { Actor } from './actors.js'
import type { DeferredAnswer, MessageKind, Run } from './entities.js'
import type { Envelope } from './envelopes.js'

/** A message asks for a turn, unless it is a notice or of the thread's own agent. */
export const messageAsks = (threadId: string, kind: MessageKind, author: Actor): boolean =>
  kind === 'message' && !(author.kind === 'agent' && author.threadId === threadId)

/** Whether an event is something a turn takes: a message that asks for one, or an answer that a paused run may go on with. */
export const isTakenByTurn = ({ event, actor }: Envelope): boolean => {
  switch (event.type) {
    case 'message_posted':
      return 'kind' in event && messageAsks(event.threadId, event.kind, actor)
    case 'deferred_answered':
      return true
    default:
      return false
  }
}

const unanswered = ({ pending, answers }: Run) =>
  pending.filter((request) => answers.every(({ toolCallId }) => toolCallId !== request.toolCallId))

/** Whether a paused run has all it asked for, and can go on. */
export const canResume = (run: Run): boolean => run.status === 'paused' && unanswered(run).length === 0

/** What a message in a paused thread answers: questions are answered with it, approvals declined with it as the reason. */
export const answersOfReply = (run: Run, content: string): readonly DeferredAnswer[] =>
  unanswered(run).map(({ toolCallId, kind }) =>
    kind === 'question' ? { toolCallId, answer: content } : { toolCallId, answer: content, approved: false },
  )
