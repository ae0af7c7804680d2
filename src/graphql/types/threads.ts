/** Threads: a conversation, its focus and its mode. */
import type { ThreadMode } from '../../core/entities.js'
import { builder } from '../builder.js'
import { connection } from '../connections.js'
import { connectionCost, LOOK_UP, READ } from '../cost.js'
import { enumOf } from '../enums.js'
import { checkId } from '../errors.js'
import { findArtifacts, findThread } from '../loaders.js'
import { modelIn, type ThreadModel } from '../models.js'
import { read } from '../reads.js'
import { ArtifactType } from './artifacts.js'
import { MessageConnection, MessageType } from './messages.js'
import { NodeInterface } from './node.js'
import { RunConnection, RunStatusEnum, RunType } from './runs.js'
import { WorkspaceType } from './workspaces.js'

export const ThreadModeEnum = enumOf<ThreadMode>('ThreadMode', 'What agents may do in a thread.', {
  edit: 'Agents change artifacts as the write policy of their type allows.',
  suggest: 'Every change of an agent becomes a proposal.',
})

export const ThreadType = builder.objectRef<ThreadModel>('Thread').implement({
  description: 'A conversation in a workspace.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    threadId: t.id({ description: 'Its id in the workspace.', resolve: ({ entity }) => entity.id }),
    title: t.string({ description: 'Its title; may be empty.', resolve: ({ entity }) => entity.title }),
    mode: t.field({
      type: ThreadModeEnum,
      description: 'What agents may do in it.',
      resolve: ({ entity }) => entity.mode,
    }),
    focus: t.field({
      type: [ArtifactType],
      complexity: { field: LOOK_UP, multiplier: 10 },
      description: 'The artifacts it is about.',
      resolve: ({ workspace, entity }) => findArtifacts(workspace, entity.focus),
    }),
    messages: t.connection(
      {
        type: MessageType,
        complexity: connectionCost,
        description: 'Its messages, oldest first. BAD_USER_INPUT: a page or cursor that makes no sense.',
        resolve: ({ workspace, entity: { id } }, args) =>
          connection(
            { workspace, list: 'messages', of: id },
            args,
            async (window) => {
              const { entries, more } = await workspace.messages(id, window)
              return { entries: entries.map((entity) => ({ position: entity.seq, entity })), more }
            },
            modelIn('Message', workspace),
          ),
      },
      MessageConnection,
    ),
    runs: t.connection(
      {
        type: RunType,
        complexity: connectionCost,
        description: 'The runs in it, oldest first.',
        args: { status: t.arg({ type: RunStatusEnum, description: 'Only runs in this state.' }) },
        resolve: ({ workspace, entity: { id } }, { status, ...args }) =>
          connection(
            { workspace, list: 'runs', of: id },
            args,
            (window) => workspace.runs({ threadId: id, statuses: status ? [status] : undefined }, window),
            modelIn('Run', workspace),
          ),
      },
      RunConnection,
    ),
    activeRun: t.field({
      type: RunType,
      complexity: READ,
      nullable: true,
      description: 'The run that is running or paused in it, if there is one.',
      resolve: async ({ workspace, entity: { id } }) => {
        const active = { threadId: id, statuses: ['running', 'paused'] } as const
        const { entries } = await read(workspace, () => workspace.runs(active, { limit: 1, from: 'end' }))
        const [run] = entries
        return run === undefined ? null : modelIn('Run', workspace)(run.entity)
      },
    }),
  }),
})

const ThreadConnection = builder.connectionObject(
  { type: ThreadType, name: 'ThreadConnection', description: 'A page of threads.' },
  { name: 'ThreadEdge', description: 'A thread and its place in the list.' },
)

builder.objectFields(WorkspaceType, (t) => ({
  thread: t.field({
    type: ThreadType,
    complexity: LOOK_UP,
    nullable: true,
    description: 'A thread by its id; null when there is none.',
    args: { threadId: t.arg.id({ required: true, description: 'Its id in the workspace.' }) },
    resolve: ({ workspace }, { threadId }) => findThread(workspace, checkId('threadId', threadId)),
  }),
  threads: t.connection(
    {
      type: ThreadType,
      complexity: connectionCost,
      description: 'Its threads, oldest first. BAD_USER_INPUT: a page or cursor that makes no sense.',
      resolve: ({ workspace }, args) =>
        connection(
          { workspace, list: 'threads' },
          args,
          (window) => workspace.threads(window),
          modelIn('Thread', workspace),
        ),
    },
    ThreadConnection,
  ),
}))
