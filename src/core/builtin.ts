/** The types a gateway has without defining any. */
import { z } from 'zod'
import { defineArtifact, defineTextArtifact } from './artifacts.js'
import { defineFeedback } from './feedback.js'
import { idSchema, textSchema } from './text.js'

export const note = defineTextArtifact({ kind: 'note', fields: { title: textSchema } })

/** Agents propose what they would change in it. */
export const checklist = defineArtifact({
  kind: 'checklist',
  writePolicy: 'propose',
  schema: z.object({
    title: textSchema,
    /** By id, in the order they were added. */
    items: z
      .record(idSchema, z.object({ title: textSchema, done: z.boolean().default(false) }))
      .default(() => ({})),
  }),
})

export const helpfulness = defineFeedback({
  name: 'helpfulness',
  targets: ['turn', 'thread', 'message'],
  schema: z.object({
    rating: z.int().min(1).max(5),
    reason: textSchema.optional(),
  }),
})
