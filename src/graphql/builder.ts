/** The Pothos builder every type of the schema is made with. Fields are non-null unless they say otherwise. */
import SchemaBuilder from '@pothos/core'
import ComplexityPlugin from '@pothos/plugin-complexity'
import ErrorsPlugin from '@pothos/plugin-errors'
import RelayPlugin from '@pothos/plugin-relay'
import type { JsonValue } from '../core/json.js'
import type { GraphQLContext } from './context.js'
import { edgesCost } from './cost.js'
import type { JsonNull } from './json.js'

export interface SchemaTypes {
  Context: GraphQLContext
  Scalars: {
    ID: { Input: string; Output: string }
    Seq: { Input: number; Output: number }
    DateTime: { Input: Date; Output: Date | string }
    /** GraphQL has its own say on null: where it is allowed, a value is nullable. */
    JSON: { Input: NonNullable<JsonValue>; Output: JsonValue | JsonNull }
  }
  DefaultFieldNullability: false
  DefaultEdgesNullability: false
  DefaultNodeNullability: false
}

const capitalized = (name: string): string => `${name.charAt(0).toUpperCase()}${name.slice(1)}`

export const builder = new SchemaBuilder<SchemaTypes>({
  plugins: [ErrorsPlugin, RelayPlugin, ComplexityPlugin],
  // Looked at once for the whole operation, before it is carried out, and not by each of its fields.
  complexity: { disabled: true },
  defaultFieldNullability: false,
  errors: {
    directResult: true,
    defaultUnionOptions: {
      name: ({ fieldName }) => `${capitalized(fieldName)}Result`,
      description: 'What came of it: it is done, or it is refused and nothing has changed.',
    },
  },
  relay: {
    edgesFieldOptions: {
      nullable: false,
      description: 'The entries of this page, oldest first.',
      complexity: edgesCost,
    },
    nodeFieldOptions: { nullable: false, description: 'The entry itself.' },
    cursorFieldOptions: {
      description: 'Where the entry stands in its list; pass it as `after` or `before`.',
    },
    pageInfoFieldOptions: { description: 'Whether there is more, and how to ask for it.' },
    pageInfoTypeOptions: { description: 'Where a page stands in its list.' },
    hasNextPageFieldOptions: { description: 'Whether later entries follow this page.' },
    hasPreviousPageFieldOptions: { description: 'Whether earlier entries precede this page.' },
    startCursorFieldOptions: { description: 'The cursor of the first entry; null on an empty page.' },
    endCursorFieldOptions: { description: 'The cursor of the last entry; null on an empty page.' },
    firstArgOptions: { description: 'At most this many from the start: 0 to 200, by default 50.' },
    afterArgOptions: { description: 'Only entries after this cursor of the same list.' },
    lastArgOptions: { description: 'At most this many from the end: 0 to 200. Not together with `first`.' },
    beforeArgOptions: { description: 'Only entries before this cursor of the same list.' },
  },
})

builder.queryType({
  description: 'What can be read. A refusal here is an error whose extensions carry a code.',
})
builder.mutationType({
  description:
    'What can be changed. A refusal here is a member of the result union, and has changed nothing.',
})
builder.subscriptionType({
  description:
    'What can be followed, over SSE or WebSocket. It goes on until the subscriber ends it, or an error whose extensions carry a code.',
})
