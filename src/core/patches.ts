/** The two ways to change an artifact's data (domain §5): a JSON Patch over all of it, or anchored edits of one text field. */
import { z } from 'zod'
import { safeParse } from './issues.js'
import { isUnsafeKey, jsonInputSchema, jsonProblem, jsonSchema, tooManyValues } from './json.js'
import { operationSchema } from './patching/operations.js'
import { textSchema } from './text.js'

/** How many operations or edits one patch may hold: what keeps deciding a patch a matter of milliseconds. */
export const MAX_PATCH_STEPS = 10_000

const jsonPatchSchema = z.object({
  type: z.literal('json_patch'),
  ops: z.array(jsonSchema),
})
const textEditsSchema = z.object({
  type: z.literal('text_edits'),
  field: textSchema.default('text'),
  edits: z.array(z.object({ old: textSchema, new: textSchema })),
})
/** A patch as it is stored. */
export const patchSchema = z.discriminatedUnion('type', [jsonPatchSchema, textEditsSchema])

/** An operation from outside, kept as it was given. */
const operationInputSchema = jsonInputSchema.superRefine((operation, context) => {
  const parsed = safeParse(operationSchema, operation)
  for (const { path, message } of parsed.error?.issues ?? []) {
    context.addIssue({ code: 'custom', message, path: [...path] })
  }
})

/** The steps of a patch from outside. Of what holds too many, or too many values in all, nothing else is looked at. */
const stepsInputSchema = <Step extends z.ZodType>(step: Step) =>
  z
    .custom<z.input<Step>[]>()
    .superRefine((steps, context) => {
      const message = stepsProblem(steps)
      if (message !== null) context.addIssue({ code: 'custom', message })
    })
    .pipe(z.array(step))

const stepsProblem = (steps: unknown): string | null => {
  if (!Array.isArray(steps)) return null
  if (steps.length > MAX_PATCH_STEPS) return `must hold at most ${MAX_PATCH_STEPS} steps`
  return jsonProblem(steps) === tooManyValues ? tooManyValues.message : null
}

/** A patch from outside: its operations are well-formed and stay inside the data. */
export const patchInputSchema = z.discriminatedUnion('type', [
  jsonPatchSchema.extend({ ops: stepsInputSchema(operationInputSchema) }),
  textEditsSchema.extend({
    field: textSchema.refine((field) => !isUnsafeKey(field), 'is not allowed as a key').default('text'),
    edits: stepsInputSchema(textEditsSchema.shape.edits.element),
  }),
])

export type Patch = z.infer<typeof patchSchema>
export type JsonPatch = z.infer<typeof jsonPatchSchema>
export type TextEdits = z.infer<typeof textEditsSchema>
