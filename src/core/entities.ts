/** What a workspace holds (domain §1). Entities are stored as they are here; the schemas read them back. */
import { z } from 'zod'
import { actorSchema } from './actors.js'
import { jsonSchema } from './json.js'
import { patchSchema } from './patches.js'

export const threadModeSchema = z.enum(['edit', 'suggest'])
export const messageKindSchema = z.enum(['message', 'notice'])
export const decisionSchema = z.enum(['accept', 'reject'])
const runStatusSchema = z.enum(['running', 'paused', 'completed', 'stopped', 'failed'])

export const threadSchema = z.object({
  id: z.string(),
  title: z.string(),
  mode: threadModeSchema,
  focus: z.array(z.string()),
})

export const artifactSchema = z.object({
  id: z.string(),
  kind: z.string(),
  version: z.int(),
  data: jsonSchema,
  updatedBy: actorSchema,
  archived: z.boolean(),
})

/** What an artifact was at one version. The patch is absent where there was nothing to patch: at creation and on archiving. */
export const revisionSchema = z.object({
  artifactId: z.string(),
  version: z.int(),
  kind: z.string(),
  data: jsonSchema,
  patch: patchSchema.optional(),
  actor: actorSchema,
  proposalId: z.string().optional(),
  archived: z.boolean(),
  traceId: z.string().optional(),
})

/** A change as a proposal keeps it. */
export const changeSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('create'),
    artifactId: z.string(),
    kind: z.string(),
    data: jsonSchema,
  }),
  z.object({
    type: z.literal('edit'),
    artifactId: z.string(),
    baseVersion: z.int(),
    patch: patchSchema,
    summary: z.string(),
  }),
  z.object({
    type: z.literal('archive'),
    artifactId: z.string(),
    baseVersion: z.int(),
  }),
])

export const proposalSchema = z.object({
  id: z.string(),
  artifactId: z.string(),
  change: changeSchema,
  proposedBy: actorSchema,
  rationale: z.string().optional(),
  status: z.enum(['pending', 'accepted', 'rejected']),
  threadId: z.string().optional(),
})

/** Something a paused run waits for: an answer to a question, or a decision on an approval. */
export const deferredRequestSchema = z.object({
  toolCallId: z.string(),
  toolName: z.string(),
  kind: z.enum(['question', 'approval']),
  args: jsonSchema,
})

const deferredAnswerSchema = z.object({
  toolCallId: z.string(),
  answer: jsonSchema.optional(),
  approved: z.boolean().optional(),
})

export const runSchema = z.object({
  id: z.string(),
  threadId: z.string(),
  status: runStatusSchema,
  pending: z.array(deferredRequestSchema),
  answers: z.array(deferredAnswerSchema),
  traceIds: z.array(z.string()),
})

export type Thread = z.infer<typeof threadSchema>
export type ThreadMode = Thread['mode']
export type MessageKind = z.infer<typeof messageKindSchema>
export type Artifact = z.infer<typeof artifactSchema>
export type Revision = z.infer<typeof revisionSchema>
export type Change = z.infer<typeof changeSchema>
export type Proposal = z.infer<typeof proposalSchema>
export type ProposalStatus = Proposal['status']
export type Decision = z.infer<typeof decisionSchema>
export type DeferredRequest = z.infer<typeof deferredRequestSchema>
export type DeferredAnswer = z.infer<typeof deferredAnswerSchema>
export type Run = z.infer<typeof runSchema>
export type RunStatus = Run['status']
