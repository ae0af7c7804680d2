/** Changes to an artifact's data (domain §5). */
import type { JsonPatch, Patch, TextEdits } from '../../core/patches.js'
import { builder } from '../builder.js'
import { CONTENT } from '../cost.js'
import { jsonOf } from '../json.js'

const JsonPatchType = builder.objectRef<JsonPatch>('JsonPatch').implement({
  description: 'A JSON Patch over all of the data.',
  fields: (t) => ({
    ops: t.field({
      type: ['JSON'],
      complexity: CONTENT,
      description: 'The operations of RFC 6902, in order.',
      resolve: ({ ops }) => ops.map(jsonOf),
    }),
  }),
})

const TextEditType = builder.objectRef<TextEdits['edits'][number]>('TextEdit').implement({
  description: 'One replacement in a text.',
  fields: (t) => ({
    old: t.exposeString('old', { description: 'What is replaced. It occurs exactly once.' }),
    new: t.exposeString('new', { description: 'What takes its place.' }),
  }),
})

const TextEditsType = builder.objectRef<TextEdits>('TextEdits').implement({
  description: 'Replacements in one text field of the data.',
  fields: (t) => ({
    field: t.exposeString('field', { description: 'The name of the field.' }),
    edits: t.expose('edits', { type: [TextEditType], description: 'The replacements, in order.' }),
  }),
})

export const PatchUnion = builder.unionType('Patch', {
  description: "A change to an artifact's data.",
  types: [JsonPatchType, TextEditsType],
  resolveType: ({ type }) => patchTypes[type],
})

const patchTypes = {
  json_patch: JsonPatchType,
  text_edits: TextEditsType,
} satisfies Record<Patch['type'], unknown>
