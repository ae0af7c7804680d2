/** The intents to change a workspace (domain §5). They carry the ids of everything they create. */
import { z } from 'zod'
import { decisionSchema, messageKindSchema, threadModeSchema } from './entities.js'
import { jsonInputSchema } from './json.js'
import { patchInputSchema } from './patches.js'
import { idSchema, textSchema } from './text.js'

const version = z
  .int('must be a whole number')
  .min(1, 'must be at least 1')
  .max(2_147_483_647, 'is too large')
const name = textSchema.min(1, 'must not be empty')

/** How many artifacts a thread can be about. All of them are loaded to set them. */
const MAX_FOCUS = 100

/** What feedback is about, as it comes in. */
const feedbackTargetInputSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('artifact'), artifactId: idSchema, version }),
  z.object({ type: z.literal('thread'), threadId: idSchema }),
  z.object({ type: z.literal('turn'), runId: idSchema }),
  z.object({
    type: z.literal('message'),
    messageId: idSchema,
    threadId: idSchema,
    runId: idSchema.optional(),
  }),
])

/** A change to propose: an artifact command without what only a direct change needs. */
const proposedChangeSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('create'),
    artifactId: idSchema,
    kind: name,
    data: jsonInputSchema,
    threadId: idSchema.optional(),
  }),
  z.object({
    type: z.literal('edit'),
    artifactId: idSchema,
    baseVersion: version,
    patch: patchInputSchema,
    summary: textSchema.optional(),
    threadId: idSchema.optional(),
  }),
  z.object({
    type: z.literal('archive'),
    artifactId: idSchema,
    baseVersion: version,
    threadId: idSchema.optional(),
  }),
])

export const commandSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('create_thread'),
    threadId: idSchema,
    title: textSchema.default(''),
  }),
  z.object({
    type: z.literal('post_message'),
    threadId: idSchema,
    messageId: idSchema,
    content: textSchema.min(1, 'must not be empty'),
    kind: messageKindSchema.default('message'),
  }),
  z.object({
    type: z.literal('set_focus'),
    threadId: idSchema,
    artifactIds: z.array(idSchema).max(MAX_FOCUS, `must hold at most ${MAX_FOCUS} ids`),
  }),
  z.object({
    type: z.literal('set_thread_mode'),
    threadId: idSchema,
    mode: threadModeSchema,
  }),
  z.object({
    type: z.literal('create_artifact'),
    artifactId: idSchema,
    kind: name,
    data: jsonInputSchema,
    threadId: idSchema.optional(),
    proposalId: idSchema,
  }),
  z.object({
    type: z.literal('edit_artifact'),
    artifactId: idSchema,
    baseVersion: version,
    patch: patchInputSchema,
    summary: textSchema.optional(),
    threadId: idSchema.optional(),
    proposalId: idSchema,
  }),
  z.object({
    type: z.literal('archive_artifact'),
    artifactId: idSchema,
    baseVersion: version,
    threadId: idSchema.optional(),
    proposalId: idSchema,
  }),
  z.object({
    type: z.literal('propose_change'),
    proposalId: idSchema,
    change: proposedChangeSchema,
    rationale: textSchema.optional(),
  }),
  z.object({
    type: z.literal('respond_to_proposal'),
    proposalId: idSchema,
    decision: decisionSchema,
    changes: patchInputSchema.optional(),
    reason: textSchema.optional(),
  }),
  z.object({
    type: z.literal('answer_deferred'),
    runId: idSchema,
    toolCallId: idSchema,
    answer: jsonInputSchema.optional(),
    approved: z.boolean().optional(),
  }),
  z.object({
    type: z.literal('give_feedback'),
    feedbackType: name,
    target: feedbackTargetInputSchema,
    value: jsonInputSchema,
  }),
])

/** A command as a caller writes it: what has a default may be left out. */
export type CommandInput = z.input<typeof commandSchema>
export type Command = z.infer<typeof commandSchema>
export type CommandType = Command['type']
export type CommandOf<Type extends CommandType> = Extract<Command, { type: Type }>
export type ProposedChange = z.infer<typeof proposedChangeSchema>
