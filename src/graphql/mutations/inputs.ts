/** What the input of every mutation holds. */
import type { SchemaTypes } from '../builder.js'

type Fields = PothosSchemaTypes.InputFieldBuilder<
  PothosSchemaTypes.ExtendDefaultTypes<SchemaTypes>,
  'InputObject'
>

export const commandFields = (t: Fields) => ({
  workspaceId: t.id({ required: true, description: 'The workspace to change.' }),
  commandId: t.id({
    description:
      'An idempotency key of your own. A command that was accepted under it is not carried out again: its ' +
      'result comes back.',
  }),
})
