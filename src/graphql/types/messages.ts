/** Messages, each posted once in a workspace (ADR-0045). */
import type { MessageKind } from '../../core/entities.js'
import { builder } from '../builder.js'
import { CONTENT, LOOK_UP } from '../cost.js'
import { enumOf } from '../enums.js'
import { checkId } from '../errors.js'
import { findRun, messageIdUsed } from '../loaders.js'
import type { MessageModel } from '../models.js'
import { ActorInterface } from './actors.js'
import { NodeInterface } from './node.js'
import { RunType } from './runs.js'
import { WorkspaceType } from './workspaces.js'

export const MessageKindEnum = enumOf<MessageKind>('MessageKind', 'What a message is for.', {
  message: "Something said, which asks for the agent's turn.",
  notice: 'Something to know, which starts, steers and answers nothing.',
})

export const MessageType = builder.objectRef<MessageModel>('Message').implement({
  description: 'A message in a thread. Its id is used once in the workspace.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    messageId: t.id({
      description: 'Its id in the workspace.',
      resolve: ({ entity }) => entity.event.messageId,
    }),
    threadId: t.id({ description: 'The thread it is in.', resolve: ({ entity }) => entity.event.threadId }),
    content: t.string({
      complexity: CONTENT,
      description: 'What it says.',
      resolve: ({ entity }) => entity.event.content,
    }),
    kind: t.field({
      type: MessageKindEnum,
      description: 'What it is for.',
      resolve: ({ entity }) => entity.event.kind,
    }),
    author: t.field({
      type: ActorInterface,
      description: 'Who posted it.',
      resolve: ({ entity }) => entity.actor,
    }),
    run: t.field({
      type: RunType,
      complexity: LOOK_UP,
      nullable: true,
      description: "The run that posted it, for an agent's message.",
      resolve: ({ entity, workspace }) =>
        entity.event.runId === undefined ? null : findRun(workspace, entity.event.runId),
    }),
    seq: t.field({ type: 'Seq', description: 'Its place in the log.', resolve: ({ entity }) => entity.seq }),
    postedAt: t.field({
      type: 'DateTime',
      description: 'When it was posted.',
      resolve: ({ entity }) => entity.ts,
    }),
  }),
})

export const MessageConnection = builder.connectionObject(
  { type: MessageType, name: 'MessageConnection', description: 'A page of messages.' },
  { name: 'MessageEdge', description: 'A message and its place in the list.' },
)

builder.objectFields(WorkspaceType, (t) => ({
  messageIdUsed: t.boolean({
    complexity: LOOK_UP,
    description: 'Whether a message id is used in the workspace: did an earlier attempt to post it succeed?',
    args: { messageId: t.arg.id({ required: true, description: "A message's id." }) },
    resolve: ({ workspace }, { messageId }) => messageIdUsed(workspace, checkId('messageId', messageId)),
  }),
}))
