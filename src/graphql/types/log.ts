/** The log: envelopes, and the events in them. */
import type { Envelope } from '../../core/envelopes.js'
import { type EventOf, type EventType, isKnown } from '../../core/events.js'
import { extentOf } from '../../core/window.js'
import type { Window } from '../../workspace/workspace.js'
import { builder } from '../builder.js'
import { connectionCost } from '../cost.js'
import { checkIds, graphqlError, reading } from '../errors.js'
import { PAGE_BYTES, readPage } from '../reads.js'
import { ActorInterface } from './actors.js'
import { ArtifactArchivedEvent, ArtifactChangedEvent, ArtifactCreatedEvent } from './events/artifacts.js'
import { EventInterface } from './events/event.js'
import { AppEventType, FeedbackGivenEvent, UnknownEventType } from './events/others.js'
import { ProposalCreatedEvent, ProposalResolvedEvent } from './events/proposals.js'
import {
  DeferredAnsweredEvent,
  RunEndedEvent,
  RunPausedEvent,
  RunStartedEvent,
  ToolCalledEvent,
  ToolReturnedEvent,
} from './events/runs.js'
import {
  FocusChangedEvent,
  MessagePostedEvent,
  ThreadCreatedEvent,
  ThreadModeChangedEvent,
} from './events/threads.js'
import { WorkspaceType } from './workspaces.js'

const eventTypes = {
  thread_created: ThreadCreatedEvent,
  thread_mode_changed: ThreadModeChangedEvent,
  focus_changed: FocusChangedEvent,
  message_posted: MessagePostedEvent,
  artifact_created: ArtifactCreatedEvent,
  artifact_changed: ArtifactChangedEvent,
  artifact_archived: ArtifactArchivedEvent,
  proposal_created: ProposalCreatedEvent,
  proposal_resolved: ProposalResolvedEvent,
  run_started: RunStartedEvent,
  tool_called: ToolCalledEvent,
  tool_returned: ToolReturnedEvent,
  run_paused: RunPausedEvent,
  deferred_answered: DeferredAnsweredEvent,
  run_ended: RunEndedEvent,
  feedback_given: FeedbackGivenEvent,
  app_event: AppEventType,
} satisfies { readonly [Type in EventType]: { readonly $inferType: EventOf<Type> } }

EventInterface.implement({
  description: 'What happened. Events are never changed and never removed.',
  fields: (t) => ({
    type: t.exposeString('type', { description: 'The type as it is stored, such as `message_posted`.' }),
  }),
  resolveType: (event) => (isKnown(event) ? eventTypes[event.type] : UnknownEventType),
})

export const EnvelopeType = builder.objectRef<Envelope>('Envelope').implement({
  description: 'An event with its place in the log, and who caused it.',
  fields: (t) => ({
    seq: t.expose('seq', { type: 'Seq', description: 'Its place in the log: 1 for the first, with no gap.' }),
    id: t.exposeID('id', { description: 'Its own id.' }),
    ts: t.expose('ts', { type: 'DateTime', description: 'When it was stored.' }),
    workspaceId: t.exposeID('workspaceId', { description: 'The workspace whose log it is in.' }),
    threadId: t.exposeID('threadId', { nullable: true, description: 'The thread it came from.' }),
    runId: t.exposeID('runId', { nullable: true, description: 'The run it came from.' }),
    actor: t.expose('actor', { type: ActorInterface, description: 'Who caused it.' }),
    traceparent: t.exposeString('traceparent', {
      nullable: true,
      description: 'The W3C trace context it was stored in.',
    }),
    event: t.expose('event', { type: EventInterface, description: 'What happened.' }),
  }),
})

/** A list has no place to say that it was cut short. */
const tooLarge = (fitting: number) =>
  graphqlError(
    'RESPONSE_TOO_LARGE',
    `The first ${fitting} of these events hold ${PAGE_BYTES} bytes or more. Ask for at most as many.`,
    { limit: PAGE_BYTES },
  )

builder.objectFields(WorkspaceType, (t) => ({
  events: t.field({
    type: [EnvelopeType],
    complexity: connectionCost,
    description:
      'A part of the log, oldest first: the events between two positions, both exclusive. ' +
      'BAD_USER_INPUT: both `first` and `last`, a negative number, or more than 200; or more than 200 threads. ' +
      'RESPONSE_TOO_LARGE: they hold more than 4 MiB.',
    args: {
      afterSeq: t.arg({ type: 'Seq', defaultValue: 0, description: 'Only events after this position.' }),
      beforeSeq: t.arg({ type: 'Seq', description: 'Only events before this position.' }),
      threadIds: t.arg.idList({
        description:
          'Only what concerns a follower of these threads, at most 200: their events, and those of the workspace as a whole.',
      }),
      first: t.arg.int({ description: 'At most this many from the start: 0 to 200, by default 50.' }),
      last: t.arg.int({
        description: 'At most this many from the end: 0 to 200. Not together with `first`.',
      }),
    },
    resolve: async ({ workspace }, { afterSeq, beforeSeq, threadIds, first, last }) => {
      const following = checkIds('threadIds', threadIds)
      const window = {
        after: afterSeq ?? undefined,
        before: beforeSeq ?? undefined,
        ...(await reading(() => extentOf({ first, last }))),
      }
      const list = (bounded: Window) => workspace.events({ following }, bounded)
      const { entries, more } = await readPage(workspace, list, window)
      if (more && entries.length < window.limit) throw tooLarge(entries.length)
      return entries
    },
  }),
}))
