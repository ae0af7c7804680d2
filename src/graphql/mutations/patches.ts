/** Changes to an artifact's data, as they come in. */
import type { CommandInput } from '../../core/commands.js'
import { builder } from '../builder.js'

type PatchInput = Extract<CommandInput, { type: 'edit_artifact' }>['patch']

const TextEditInput = builder.inputType('TextEditInput', {
  description: 'One replacement in a text.',
  fields: (t) => ({
    old: t.string({
      required: true,
      description: 'What is replaced. It occurs exactly once; empty only for a field that is empty.',
    }),
    new: t.string({ required: true, description: 'What takes its place.' }),
  }),
})

const TextEditsInput = builder.inputType('TextEditsInput', {
  description: 'Replacements in one text field of the data.',
  fields: (t) => ({
    field: t.string({ defaultValue: 'text', description: 'The name of the field.' }),
    edits: t.field({ type: [TextEditInput], required: true, description: 'The replacements, in order.' }),
  }),
})

export const PatchInputType = builder.inputType('PatchInput', {
  description: "A change to an artifact's data, in one of two forms.",
  isOneOf: true,
  fields: (t) => ({
    jsonPatch: t.field({ type: ['JSON'], description: 'The operations of RFC 6902, in order.' }),
    textEdits: t.field({ type: TextEditsInput, description: 'Replacements in a text.' }),
  }),
})

export const toPatch = ({ jsonPatch, textEdits }: typeof PatchInputType.$inferInput): PatchInput =>
  textEdits === undefined
    ? { type: 'json_patch', ops: jsonPatch }
    : { type: 'text_edits', field: textEdits.field ?? undefined, edits: textEdits.edits }
