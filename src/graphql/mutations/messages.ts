/** Posting messages, each once in a workspace (ADR-0045). */
import { isMessage, type Message } from '../../workspace/workspace.js'
import { builder } from '../builder.js'
import { type CarriedOut, carryOut, lastSeq } from '../commits.js'
import { findRun } from '../loaders.js'
import { modelIn } from '../models.js'
import { refusals } from '../rejections.js'
import { MessageKindEnum, MessageType } from '../types/messages.js'
import { RunType } from '../types/runs.js'
import { commandFields } from './inputs.js'

const PostMessageInput = builder.inputType('PostMessageInput', {
  description: 'A message to post.',
  fields: (t) => ({
    ...commandFields(t),
    threadId: t.id({ required: true, description: 'The thread to post it in.' }),
    messageId: t.id({
      description: 'An id of your own, used once in the workspace. Generated when omitted.',
    }),
    content: t.string({ required: true, description: 'What it says: 1 to 65,536 UTF-16 units by default.' }),
    kind: t.field({ type: MessageKindEnum, defaultValue: 'message', description: 'What it is for.' }),
  }),
})

const PostMessageSuccess = builder.objectRef<CarriedOut>('PostMessageSuccess').implement({
  description: 'The message is posted.',
  fields: (t) => ({
    message: t.field({
      type: MessageType,
      description: 'The message.',
      resolve: ({ workspace, envelopes }) => modelIn('Message', workspace)(posted(envelopes)),
    }),
    run: t.field({
      type: RunType,
      nullable: true,
      description: 'The run it started or resumed; null when it steered one, or asked for none.',
      resolve: ({ workspace, runId }) => (runId ? findRun(workspace, runId) : null),
    }),
    seq: t.field({ type: 'Seq', description: "The message's place in the log.", resolve: lastSeq }),
  }),
})

const posted = (envelopes: CarriedOut['envelopes']): Message => {
  const message = envelopes.find(isMessage)
  if (message === undefined) throw new Error('a message was posted, but there is no event of it')
  return message
}

builder.mutationField('postMessage', (t) =>
  t.field({
    type: PostMessageSuccess,
    description:
      'Posts a message. An id that is used, in whichever thread of the workspace, is refused as InvalidState ' +
      'with reason ALREADY_EXISTS: then an earlier attempt succeeded, and nothing happens twice. ' +
      'NotFound: the thread does not exist.',
    errors: refusals('invalid_state', 'not_found'),
    args: { input: t.arg({ type: PostMessageInput, required: true, description: 'The message.' }) },
    resolve: (_, { input }, context) =>
      carryOut(context, input, {
        type: 'post_message',
        threadId: input.threadId,
        messageId: input.messageId ?? undefined,
        content: input.content,
        kind: input.kind ?? undefined,
      }),
  }),
)
