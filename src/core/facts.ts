/** What the runner or an application records (domain §5, facts). */
import { z } from 'zod'
import { deferredRequestSchema } from './entities.js'
import { jsonInputSchema } from './json.js'
import { idSchema, textSchema } from './text.js'

const count = z.int('must be a whole number').min(0, 'must not be negative')

const runUsageInputSchema = z.object({
  requests: count,
  inputTokens: count,
  outputTokens: count,
})

/** What a paused run asks for; each request by its own tool call. */
const requestsInputSchema = z
  .array(
    deferredRequestSchema.extend({
      toolCallId: idSchema,
      toolName: textSchema,
      args: jsonInputSchema,
    }),
  )
  .min(1, 'must hold at least one request')
  .superRefine((requests, context) => {
    for (const [index, { toolCallId }] of requests.entries()) {
      if (requests.findIndex((request) => request.toolCallId === toolCallId) === index) continue
      context.addIssue({ code: 'custom', message: 'is asked for twice', path: [index, 'toolCallId'] })
    }
  })

export const factSchema = z.discriminatedUnion('type', [
  z.object({
    type: z.literal('run_started'),
    runId: idSchema,
    threadId: idSchema,
    trigger: z.enum(['message', 'resume', 'api']),
    messageId: idSchema.optional(),
  }),
  z.object({
    type: z.literal('tool_called'),
    runId: idSchema,
    toolCallId: idSchema,
    toolName: textSchema,
    argsSummary: textSchema,
  }),
  z.object({
    type: z.literal('tool_returned'),
    runId: idSchema,
    toolCallId: idSchema,
    status: z.enum(['ok', 'error', 'retry']),
    summary: textSchema,
  }),
  z.object({
    type: z.literal('run_paused'),
    runId: idSchema,
    requests: requestsInputSchema,
  }),
  z.object({
    type: z.literal('run_ended'),
    runId: idSchema,
    status: z.enum(['completed', 'stopped', 'failed']),
    usage: runUsageInputSchema.optional(),
    error: textSchema.optional(),
    reason: textSchema.optional(),
  }),
  z.object({
    type: z.literal('app_event'),
    name: textSchema.min(1, 'must not be empty'),
    data: jsonInputSchema.optional(),
    threadId: idSchema.optional(),
    runId: idSchema.optional(),
  }),
])

export type FactInput = z.input<typeof factSchema>
export type Fact = z.infer<typeof factSchema>
type FactType = Fact['type']
export type FactOf<Type extends FactType> = Extract<Fact, { type: Type }>
