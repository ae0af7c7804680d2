/** Creating threads, and saying what they are about and what agents may do in them. */
import { builder } from '../builder.js'
import { appended, type CarriedOut, carryOut } from '../commits.js'
import { existing, findThread } from '../loaders.js'
import { refusals } from '../rejections.js'
import { ThreadModeEnum, ThreadType } from '../types/threads.js'
import { commandFields } from './inputs.js'

interface ThreadChanged extends CarriedOut {
  readonly threadId: string
}

const threadChanged = (name: string, description: string) =>
  builder.objectRef<ThreadChanged>(name).implement({
    description,
    fields: (t) => ({
      thread: t.field({
        type: ThreadType,
        description: 'The thread as it is now.',
        resolve: ({ workspace, threadId }) => existing(findThread(workspace, threadId)),
      }),
      seq: t.expose('seq', {
        type: 'Seq',
        nullable: true,
        description: 'The event it appended; null when it appended none.',
      }),
    }),
  })

const CreateThreadInput = builder.inputType('CreateThreadInput', {
  description: 'A thread to create.',
  fields: (t) => ({
    ...commandFields(t),
    threadId: t.id({ description: 'An id of your own, used once in the workspace. Generated when omitted.' }),
    title: t.string({ defaultValue: '', description: 'Its title.' }),
  }),
})

builder.mutationField('createThread', (t) =>
  t.field({
    type: threadChanged('CreateThreadSuccess', 'The thread is created.'),
    description: 'Creates a thread. InvalidState with reason ALREADY_EXISTS: the id is used.',
    errors: refusals('invalid_state'),
    args: { input: t.arg({ type: CreateThreadInput, required: true, description: 'The thread.' }) },
    resolve: async (_, { input }, context) => {
      const done = await carryOut(context, input, {
        type: 'create_thread',
        threadId: input.threadId ?? undefined,
        title: input.title ?? undefined,
      })
      return { ...done, threadId: appended(done, 'thread_created').threadId }
    },
  }),
)

const SetThreadFocusInput = builder.inputType('SetThreadFocusInput', {
  description: 'What a thread is to be about.',
  fields: (t) => ({
    ...commandFields(t),
    threadId: t.id({ required: true, description: 'The thread.' }),
    artifactIds: t.idList({
      required: true,
      description: 'The artifacts, in order, at most 100; none for no focus. Duplicates are dropped.',
    }),
  }),
})

builder.mutationField('setThreadFocus', (t) =>
  t.field({
    type: threadChanged('SetThreadFocusSuccess', 'The thread is about these artifacts.'),
    description:
      'Sets what a thread is about. A focus it has already appends nothing. ' +
      'NotFound: the thread or one of the artifacts does not exist.',
    errors: refusals('not_found'),
    args: { input: t.arg({ type: SetThreadFocusInput, required: true, description: 'The focus.' }) },
    resolve: async (_, { input }, context) => {
      const { threadId, artifactIds } = input
      return { ...(await carryOut(context, input, { type: 'set_focus', threadId, artifactIds })), threadId }
    },
  }),
)

const SetThreadModeInput = builder.inputType('SetThreadModeInput', {
  description: 'What agents may do in a thread.',
  fields: (t) => ({
    ...commandFields(t),
    threadId: t.id({ required: true, description: 'The thread.' }),
    mode: t.field({ type: ThreadModeEnum, required: true, description: 'The mode.' }),
  }),
})

builder.mutationField('setThreadMode', (t) =>
  t.field({
    type: threadChanged('SetThreadModeSuccess', 'The thread is in this mode.'),
    description:
      'Sets what agents may do in a thread. A mode it is in already appends nothing. ' +
      'NotFound: the thread does not exist.',
    errors: refusals('not_found'),
    args: { input: t.arg({ type: SetThreadModeInput, required: true, description: 'The mode.' }) },
    resolve: async (_, { input }, context) => {
      const { threadId, mode } = input
      return { ...(await carryOut(context, input, { type: 'set_thread_mode', threadId, mode })), threadId }
    },
  }),
)
