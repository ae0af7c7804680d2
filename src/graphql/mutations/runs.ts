/** Answering paused runs. */
import { openWorkspace } from '../access.js'
import { builder } from '../builder.js'
import { type CarriedOut, carryOut, lastSeq } from '../commits.js'
import { existing, findRun } from '../loaders.js'
import { modelIn, type RunModel } from '../models.js'
import { refusals } from '../rejections.js'
import { RunType } from '../types/runs.js'
import { commandFields } from './inputs.js'

const AnswerDeferredInput = builder.inputType('AnswerDeferredInput', {
  description: 'An answer to something a paused run waits for.',
  fields: (t) => ({
    ...commandFields(t),
    runId: t.id({ required: true, description: 'The run.' }),
    toolCallId: t.id({ required: true, description: 'The request: a `toolCallId` of what it waits for.' }),
    answer: t.field({ type: 'JSON', description: 'To a question; JSON null is an answer.' }),
    approved: t.boolean({ description: 'The decision on an approval.' }),
  }),
})

interface Answered extends CarriedOut {
  readonly runId: string
}

const AnswerDeferredSuccess = builder.objectRef<Answered>('AnswerDeferredSuccess').implement({
  description: 'The request is answered.',
  fields: (t) => ({
    run: t.field({
      type: RunType,
      description: 'The run as it is now.',
      resolve: ({ workspace, runId }) => existing(findRun(workspace, runId)),
    }),
    resumed: t.boolean({
      description: 'Whether it was the last answer the run waited for, so that it goes on.',
      resolve: ({ resumed = false }) => resumed,
    }),
    seq: t.field({ type: 'Seq', description: 'The event it appended.', resolve: lastSeq }),
  }),
})

const StopRunInput = builder.inputType('StopRunInput', {
  description: 'A run to stop.',
  fields: (t) => ({
    ...commandFields(t),
    runId: t.id({ required: true, description: 'The run.' }),
  }),
})

const StopRunSuccess = builder.objectRef<RunModel>('StopRunSuccess').implement({
  description: 'The run is over: stopped, or as it had ended before.',
  fields: (t) => ({
    run: t.field({ type: RunType, description: 'The run as it is now.', resolve: (run) => run }),
  }),
})

builder.mutationField('stopRun', (t) =>
  t.field({
    type: StopRunSuccess,
    description:
      'Ends a run that is running or paused. To stop it again changes nothing. NotFound: there is no such run.',
    errors: refusals('not_found'),
    args: { input: t.arg({ type: StopRunInput, required: true, description: 'The run.' }) },
    resolve: async (_, { input }, context) => {
      const workspace = await openWorkspace(context, input.workspaceId)
      return modelIn('Run', workspace)(await context.runner.stop(workspace, input.runId))
    },
  }),
)

builder.mutationField('answerDeferred', (t) =>
  t.field({
    type: AnswerDeferredSuccess,
    description:
      'Answers something a paused run waits for. InvalidState: the run is not paused (NOT_PAUSED), the request is ' +
      'answered (ALREADY_ANSWERED), or takes the other kind of answer (WRONG_ANSWER). NotFound: there is no such ' +
      'run, or it does not wait for this.',
    errors: refusals('invalid_state', 'not_found'),
    args: { input: t.arg({ type: AnswerDeferredInput, required: true, description: 'The answer.' }) },
    resolve: async (_, { input }, context) => {
      const { runId, toolCallId, answer } = input
      const approved = input.approved ?? undefined
      const done = await carryOut(context, input, {
        type: 'answer_deferred',
        runId,
        toolCallId,
        answer,
        approved,
      })
      return { ...done, runId }
    },
  }),
)
