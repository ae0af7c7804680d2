/** Runs of agents. */
import type { DeferredAnswer, DeferredRequest, RunStatus } from '../../core/entities.js'
import { builder } from '../builder.js'
import { connection } from '../connections.js'
import { connectionCost, LOOK_UP } from '../cost.js'
import { enumOf } from '../enums.js'
import { checkId } from '../errors.js'
import { jsonOf } from '../json.js'
import { findRun } from '../loaders.js'
import { modelIn, type RunModel } from '../models.js'
import { NodeInterface } from './node.js'
import { WorkspaceType } from './workspaces.js'

export const RunStatusEnum = enumOf<RunStatus>('RunStatus', 'What a run is doing.', {
  running: 'It works.',
  paused: 'It waits for answers.',
  completed: 'It ended by itself.',
  stopped: 'It was stopped.',
  failed: 'It ended with an error, or its process died.',
})

const DeferredKindEnum = enumOf<DeferredRequest['kind']>('DeferredKind', 'What a paused run waits for.', {
  question: 'An answer.',
  approval: 'A decision: approved or not.',
})

/** A request, and whether it is answered. */
export interface DeferredRequestModel extends DeferredRequest {
  readonly answered: boolean
}

export const DeferredRequestType = builder.objectRef<DeferredRequestModel>('DeferredRequest').implement({
  description: 'Something a paused run waits for.',
  fields: (t) => ({
    toolCallId: t.exposeID('toolCallId', { description: 'Names the request when it is answered.' }),
    toolName: t.exposeString('toolName', { description: 'The tool that asks.' }),
    kind: t.expose('kind', { type: DeferredKindEnum, description: 'What it waits for.' }),
    args: t.field({
      type: 'JSON',
      description: 'What the tool asks, in its own form.',
      resolve: ({ args }) => jsonOf(args),
    }),
    answered: t.exposeBoolean('answered', { description: 'Whether it is answered already.' }),
  }),
})

const DeferredAnswerType = builder.objectRef<DeferredAnswer>('DeferredAnswer').implement({
  description: 'The answer to a request of a paused run.',
  fields: (t) => ({
    toolCallId: t.exposeID('toolCallId', { description: 'The request it answers.' }),
    answer: t.expose('answer', { type: 'JSON', nullable: true, description: 'To a question.' }),
    approved: t.exposeBoolean('approved', { nullable: true, description: 'The decision on an approval.' }),
  }),
})

export const RunType = builder.objectRef<RunModel>('Run').implement({
  description: "One stretch of an agent's work in a thread.",
  interfaces: [NodeInterface],
  fields: (t) => ({
    runId: t.id({ description: 'Its id in the workspace.', resolve: ({ entity }) => entity.id }),
    threadId: t.id({ description: 'The thread it works in.', resolve: ({ entity }) => entity.threadId }),
    status: t.field({
      type: RunStatusEnum,
      description: 'What it is doing.',
      resolve: ({ entity }) => entity.status,
    }),
    pending: t.field({
      type: [DeferredRequestType],
      description: 'What it waits for, while it is paused.',
      resolve: ({ entity: { pending, answers } }) =>
        pending.map((request) => ({
          ...request,
          answered: answers.some(({ toolCallId }) => toolCallId === request.toolCallId),
        })),
    }),
    answers: t.field({
      type: [DeferredAnswerType],
      description: 'The answers it has so far, while it is paused.',
      resolve: ({ entity }) => entity.answers,
    }),
    traceIds: t.stringList({
      description: 'The traces it took part in: one for its start and one for each time it was resumed.',
      resolve: ({ entity }) => entity.traceIds,
    }),
  }),
})

export const RunConnection = builder.connectionObject(
  { type: RunType, name: 'RunConnection', description: 'A page of runs.' },
  { name: 'RunEdge', description: 'A run and its place in the list.' },
)

builder.objectFields(WorkspaceType, (t) => ({
  run: t.field({
    type: RunType,
    complexity: LOOK_UP,
    nullable: true,
    description: 'A run by its id; null when there is none.',
    args: { runId: t.arg.id({ required: true, description: 'Its id in the workspace.' }) },
    resolve: ({ workspace }, { runId }) => findRun(workspace, checkId('runId', runId)),
  }),
  runs: t.connection(
    {
      type: RunType,
      complexity: connectionCost,
      description: 'The runs in its threads, oldest first.',
      args: {
        threadId: t.arg.id({ description: 'Only runs in this thread.' }),
        status: t.arg({ type: RunStatusEnum, description: 'Only runs in this state.' }),
      },
      resolve: ({ workspace }, { threadId, status, ...args }) => {
        const filter = {
          threadId: threadId == null ? undefined : checkId('threadId', threadId),
          statuses: status == null ? undefined : [status],
        }
        return connection(
          { workspace, list: 'runs' },
          args,
          (window) => workspace.runs(filter, window),
          modelIn('Run', workspace),
        )
      },
    },
    RunConnection,
  ),
}))
