/** Who acts (domain §3). */
import { z } from 'zod'
import { idSchema, textSchema } from './text.js'

const name = textSchema.min(1)

const userSchema = z.object({
  kind: z.literal('user'),
  id: idSchema,
  name: name.optional(),
})
const agentSchema = z.object({
  kind: z.literal('agent'),
  threadId: idSchema,
  runId: idSchema.optional(),
  name: name.default('assistant'),
})
const externalAgentSchema = z.object({
  kind: z.literal('external_agent'),
  clientId: idSchema,
  name: name.optional(),
})
const systemSchema = z.object({
  kind: z.literal('system'),
  name: name.default('system'),
})
const evaluatorSchema = z.object({
  kind: z.literal('evaluator'),
  name,
  version: textSchema.min(1),
})

export const actorSchema = z.discriminatedUnion('kind', [
  userSchema,
  agentSchema,
  externalAgentSchema,
  systemSchema,
  evaluatorSchema,
])

export type Actor = z.infer<typeof actorSchema>
export type ActorKind = Actor['kind']
export type AgentActor = z.infer<typeof agentSchema>

/** Two actors are the same participant when their keys are equal. */
export const participantKey = (actor: Actor): string => {
  switch (actor.kind) {
    case 'user':
      return `user:${actor.id}`
    case 'agent':
      return `agent:${actor.threadId}`
    case 'external_agent':
      return `external_agent:${actor.clientId}`
    case 'system':
      return `system:${actor.name}`
    case 'evaluator':
      return `evaluator:${actor.name}`
  }
}

/** Agents are who write policies bind. */
export const isAgent = (actor: Actor): boolean => actor.kind === 'agent' || actor.kind === 'external_agent'

/** The name to show for an actor: its own, else its id. */
export const displayName = (actor: Actor): string => {
  switch (actor.kind) {
    case 'user':
      return actor.name ?? actor.id
    case 'external_agent':
      return actor.name ?? actor.clientId
    case 'agent':
    case 'system':
    case 'evaluator':
      return actor.name
  }
}
