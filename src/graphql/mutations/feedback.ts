/** Giving feedback, and recording events of the application. */
import type { FeedbackTarget } from '../../core/events.js'
import { builder } from '../builder.js'
import { type CarriedOut, carryOut, lastSeq, recordFact } from '../commits.js'
import { refusals } from '../rejections.js'
import { commandFields } from './inputs.js'

const recorded = (name: string, description: string) =>
  builder.objectRef<CarriedOut>(name).implement({
    description,
    fields: (t) => ({
      seq: t.field({ type: 'Seq', description: 'The event it appended.', resolve: lastSeq }),
    }),
  })

const ArtifactTargetInput = builder.inputType('ArtifactTargetInput', {
  description: 'A version of an artifact.',
  fields: (t) => ({
    artifactId: t.id({ required: true, description: 'The artifact.' }),
    version: t.int({ required: true, description: 'A version it is at, or has been at.' }),
  }),
})

const ThreadTargetInput = builder.inputType('ThreadTargetInput', {
  description: 'A thread.',
  fields: (t) => ({ threadId: t.id({ required: true, description: 'The thread.' }) }),
})

const TurnTargetInput = builder.inputType('TurnTargetInput', {
  description: "An agent's turn.",
  fields: (t) => ({ runId: t.id({ required: true, description: 'The run.' }) }),
})

const MessageTargetInput = builder.inputType('MessageTargetInput', {
  description: 'A message.',
  fields: (t) => ({
    messageId: t.id({ required: true, description: 'The message.' }),
    threadId: t.id({ required: true, description: 'The thread it is in.' }),
    runId: t.id({ description: 'The run that posted it.' }),
  }),
})

const FeedbackTargetInput = builder.inputType('FeedbackTargetInput', {
  description: 'What feedback is about: one of these.',
  isOneOf: true,
  fields: (t) => ({
    artifact: t.field({ type: ArtifactTargetInput, description: 'A version of an artifact.' }),
    thread: t.field({ type: ThreadTargetInput, description: 'A thread.' }),
    turn: t.field({ type: TurnTargetInput, description: "An agent's turn." }),
    message: t.field({ type: MessageTargetInput, description: 'A message.' }),
  }),
})

const toTarget = ({
  artifact,
  thread,
  turn,
  message,
}: typeof FeedbackTargetInput.$inferInput): FeedbackTarget => {
  if (artifact !== undefined) return { type: 'artifact', ...artifact }
  if (thread !== undefined) return { type: 'thread', ...thread }
  if (turn !== undefined) return { type: 'turn', ...turn }
  return { type: 'message', ...message, runId: message.runId ?? undefined }
}

const GiveFeedbackInput = builder.inputType('GiveFeedbackInput', {
  description: 'Feedback to give.',
  fields: (t) => ({
    ...commandFields(t),
    feedbackType: t.string({ required: true, description: 'Its type: a `name` of `feedbackTypes`.' }),
    target: t.field({ type: FeedbackTargetInput, required: true, description: 'What it is about.' }),
    value: t.field({ type: 'JSON', required: true, description: 'The feedback, as its type has it.' }),
  }),
})

builder.mutationField('giveFeedback', (t) =>
  t.field({
    type: recorded('GiveFeedbackSuccess', 'The feedback is given.'),
    description:
      'Gives feedback; the same again is recorded again, unless it carries the same `commandId`. NotFound: there is ' +
      'no such type or target. ValidationFailed: the value does not fit the type, or the type is not for such a ' +
      'target. InvalidState with reason WRONG_THREAD: the run belongs to another thread.',
    errors: refusals('invalid_state', 'not_found'),
    args: { input: t.arg({ type: GiveFeedbackInput, required: true, description: 'The feedback.' }) },
    resolve: (_, { input }, context) =>
      carryOut(context, input, {
        type: 'give_feedback',
        feedbackType: input.feedbackType,
        target: toTarget(input.target),
        value: input.value,
      }),
  }),
)

const RecordAppEventInput = builder.inputType('RecordAppEventInput', {
  description: 'An event of the application.',
  fields: (t) => ({
    ...commandFields(t),
    name: t.string({ required: true, description: "The application's name for it." }),
    data: t.field({ type: 'JSON', description: "The application's data." }),
    threadId: t.id({ description: 'The thread it belongs to.' }),
    runId: t.id({ description: 'The run it belongs to.' }),
  }),
})

builder.mutationField('recordAppEvent', (t) =>
  t.field({
    type: recorded('RecordAppEventSuccess', 'The event is recorded.'),
    description:
      'Records an event of the application; the same again is recorded again, unless it carries the same ' +
      '`commandId`. NotFound: the thread does not exist.',
    errors: refusals('not_found'),
    args: { input: t.arg({ type: RecordAppEventInput, required: true, description: 'The event.' }) },
    resolve: (_, { input }, context) =>
      recordFact(context, input, {
        type: 'app_event',
        name: input.name,
        data: input.data,
        threadId: input.threadId ?? undefined,
        runId: input.runId ?? undefined,
      }),
  }),
)
