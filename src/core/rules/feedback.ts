/** Typed feedback on what happened (domain §5): the one thing evaluators do. */
import type { CommandOf } from '../commands.js'
import type { FeedbackType } from '../feedback.js'
import { invalid, NotFound } from '../rejections.js'
import type { Rule } from '../rule.js'
import { messageUsedIn, type Needs, result, type State } from '../state.js'
import type { Origin } from './origin.js'
import { existingRun, inThread } from './runs.js'
import { existingArtifact } from './targets.js'
import { existingThread } from './threads.js'

type Target = CommandOf<'give_feedback'>['target']

export const giveFeedback: Rule<CommandOf<'give_feedback'>> = {
  needs: ({ target }) => targetNeeds(target),
  decide: ({ feedbackType, target, value }, state, { definitions }) => {
    const type = definitions.feedbackTypes.get(feedbackType)
    if (type === undefined) throw new NotFound('feedback type', feedbackType)
    allowedTarget(type, target)
    const validated = type.parse(value)
    const origin = targetOrigin(target, state)
    return result({ type: 'recorded' }, [
      { event: { type: 'feedback_given', feedbackType, target, value: validated }, ...origin },
    ])
  },
}

const targetNeeds = (target: Target): Partial<Needs> => {
  switch (target.type) {
    case 'artifact':
      return { artifacts: [target.artifactId] }
    case 'thread':
      return { threads: [target.threadId] }
    case 'turn':
      return { runs: [target.runId] }
    case 'message': {
      const { messageId, threadId, runId } = target
      return { messages: [messageId], threads: [threadId], runs: runId === undefined ? [] : [runId] }
    }
  }
}

/** @throws ValidationFailed */
const allowedTarget = ({ name, targets }: FeedbackType, { type }: Target): void => {
  if (targets.includes(type)) return
  throw invalid(['target'], `must be of another kind: ${name} is given on ${targets.join(', ')}`)
}

/** Where feedback is recorded: with the thread it is about. Feedback on an artifact concerns the workspace. @throws NotFound, InvalidState */
const targetOrigin = (target: Target, state: State): Origin => {
  switch (target.type) {
    case 'artifact': {
      const { artifactId, version } = target
      if (existingArtifact(state, artifactId).version >= version) return {}
      throw new NotFound('artifact', artifactId, ` at version ${version}`)
    }
    case 'thread':
      return { threadId: existingThread(state, target.threadId).id }
    case 'turn': {
      const { id: runId, threadId } = existingRun(state, target.runId)
      return { threadId, runId }
    }
    case 'message': {
      const { messageId, threadId, runId } = target
      existingThread(state, threadId)
      if (!messageUsedIn(state, messageId)) throw new NotFound('message', messageId)
      if (runId !== undefined) inThread(existingRun(state, runId), threadId)
      return { threadId, runId }
    }
  }
}
