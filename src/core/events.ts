/** What happened (domain §8). The set is closed: whoever handles events handles each of these. */
import { z } from 'zod'
import { actorSchema } from './actors.js'
import {
  changeSchema,
  decisionSchema,
  deferredRequestSchema,
  messageKindSchema,
  threadModeSchema,
} from './entities.js'
import { jsonSchema } from './json.js'
import { patchSchema } from './patches.js'

const id = z.string()

const feedbackTargetSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('artifact'), artifactId: id, version: z.int() }),
  z.object({ type: z.literal('thread'), threadId: id }),
  z.object({ type: z.literal('turn'), runId: id }),
  z.object({
    type: z.literal('message'),
    messageId: id,
    threadId: id,
    runId: id.optional(),
  }),
])

const runUsageSchema = z.object({
  requests: z.int(),
  inputTokens: z.int(),
  outputTokens: z.int(),
})

export const eventSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('thread_created'),
    threadId: id,
    title: z.string(),
  }),
  z.object({
    type: z.literal('thread_mode_changed'),
    threadId: id,
    mode: threadModeSchema,
  }),
  z.object({
    type: z.literal('focus_changed'),
    threadId: id,
    artifactIds: z.array(id),
  }),
  z.object({
    type: z.literal('message_posted'),
    threadId: id,
    messageId: id,
    content: z.string(),
    kind: messageKindSchema,
    runId: id.optional(),
  }),
  z.object({
    type: z.literal('artifact_created'),
    artifactId: id,
    kind: z.string(),
    version: z.int(),
    data: jsonSchema,
    proposalId: id.optional(),
  }),
  z.object({
    type: z.literal('artifact_changed'),
    artifactId: id,
    kind: z.string(),
    version: z.int(),
    patch: patchSchema,
    summary: z.string(),
    proposalId: id.optional(),
  }),
  z.object({
    type: z.literal('artifact_archived'),
    artifactId: id,
    kind: z.string(),
    version: z.int(),
    proposalId: id.optional(),
  }),
  z.object({
    type: z.literal('proposal_created'),
    proposalId: id,
    change: changeSchema,
    rationale: z.string().optional(),
  }),
  z.object({
    type: z.literal('proposal_resolved'),
    proposalId: id,
    decision: decisionSchema,
    proposedBy: actorSchema,
    artifactId: id,
    changes: patchSchema.optional(),
    reason: z.string().optional(),
    version: z.int().optional(),
  }),
  z.object({
    type: z.literal('run_started'),
    runId: id,
    threadId: id,
    trigger: z.enum(['message', 'resume', 'api']),
    /** The message it starts or resumes with, where one did. */
    messageId: id.optional(),
    traceId: z.string().optional(),
  }),
  z.object({
    type: z.literal('tool_called'),
    runId: id,
    threadId: id,
    toolCallId: id,
    toolName: z.string(),
    argsSummary: z.string(),
  }),
  z.object({
    type: z.literal('tool_returned'),
    runId: id,
    threadId: id,
    toolCallId: id,
    status: z.enum(['ok', 'error', 'retry']),
    summary: z.string(),
  }),
  z.object({
    type: z.literal('run_paused'),
    runId: id,
    threadId: id,
    requests: z.array(deferredRequestSchema),
  }),
  z.object({
    type: z.literal('deferred_answered'),
    runId: id,
    threadId: id,
    toolCallId: id,
    answer: jsonSchema.optional(),
    approved: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('run_ended'),
    runId: id,
    threadId: id,
    status: z.enum(['completed', 'stopped', 'failed']),
    usage: runUsageSchema.optional(),
    error: z.string().optional(),
    reason: z.string().optional(),
  }),
  z.object({
    type: z.literal('feedback_given'),
    feedbackType: z.string(),
    target: feedbackTargetSchema,
    value: jsonSchema,
  }),
  z.object({
    type: z.literal('app_event'),
    name: z.string(),
    data: jsonSchema.optional(),
  }),
])

export type Event = z.infer<typeof eventSchema>
export type EventType = Event['type']
export type FeedbackTarget = z.infer<typeof feedbackTargetSchema>
export type EventOf<Type extends EventType> = Extract<Event, { type: Type }>

/** Every type of event, in the order of domain §8. */
export const eventTypes: readonly EventType[] = eventSchema.options.map(({ shape }) => shape.type.value)

/** A stored event of a type this version does not know; `data` is the event as it is stored. */
export interface UnknownEvent {
  readonly type: string
  readonly unknown: true
  readonly data: z.infer<typeof jsonSchema>
}

export const isKnown = (event: Event | UnknownEvent): event is Event => !('unknown' in event)

/** Events of these types concern the whole workspace: every subscriber gets them, whichever thread they came from (domain §8). */
export const workspaceScopedEvents: readonly EventType[] = [
  'artifact_created',
  'artifact_changed',
  'artifact_archived',
  'proposal_created',
  'proposal_resolved',
]
