/** The two ways to change an artifact's data (domain §5): a JSON Patch over all of it, or anchored edits of one text field. */
import { z } from 'zod'
import { safeParse } from './issues.js'
import { isUnsafeKey, jsonInputSchema, jsonSchema } from './json.js'
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

const tooMany = `must hold at most ${MAX_PATCH_STEPS} steps`

/** A patch from outside: its operations are well-formed and stay inside the data. */
export const patchInputSchema = z.discriminatedUnion('type', [
  jsonPatchSchema.extend({ ops: z.array(operationInputSchema).max(MAX_PATCH_STEPS, tooMany) }),
  textEditsSchema.extend({
    field: textSchema.refine((field) => !isUnsafeKey(field), 'is not allowed as a key').default('text'),
    edits: textEditsSchema.shape.edits.max(MAX_PATCH_STEPS, tooMany),
  }),
])

export type Patch = z.infer<typeof patchSchema>
export type JsonPatch = z.infer<typeof jsonPatchSchema>
export type TextEdits = z.infer<typeof textEditsSchema>
