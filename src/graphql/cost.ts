/**
 * What an operation costs before it is carried out, in about one unit for each value of its result. What the storage has to be asked for
 * costs more, and so do the entries of a list, which are read whole whatever is shown of them. Fields say here what they cost; what says
 * nothing costs one, and a list without a size counts as ten.
 */
import { complexityFromQuery } from '@pothos/plugin-complexity'
import {
  type DocumentNode,
  type FieldNode,
  type GraphQLSchema,
  isObjectType,
  Kind,
  type OperationDefinitionNode,
  visit,
} from 'graphql'
import { DEFAULT_PAGE, MAX_PAGE } from '../core/window.js'
import { sizeOf } from './inputs.js'

/** A read of the storage of its own, which takes as long as some hundred values. */
export const READ = 250

/** A look-up by key: those of one tick are one read. */
export const LOOK_UP = 10

/** An entry of a list. */
const ENTRY = 10

/** A node by its global id: a message is read by itself, others together. */
export const NODE = 100

/** A content, or data: long ones take as much as many values. */
export const CONTENT = 25

/** A command: it loads, decides and saves. */
const COMMAND = 100

/** Change notes are made from up to 5,000 changes, however few they are: up to half a second of work. */
export const DIGEST = 10_000

/** How many values of an input take as long as two of a result: each is looked at several times, whatever comes of it. */
const VALUES = 10

/** How many UTF-16 units of its texts take as long as one. */
const UNITS = 500

/** An operation of a JSON patch, besides what is in it. */
const OPERATION = 4

/** A replacement in a text, which is looked through as a whole for each. */
const REPLACEMENT = 20

/** What operations that copy may make of each other is bounded by the size of an artifact, which takes as long as this. */
const MOST_COPIED = 20_000

/** Deciding on a proposal carries out a patch that was paid for before, and may do so again and again in vain. */
export const DECISION = 2_000

/** The schema, or a type of it, asked for: all of it takes as long to make as change notes. */
const INTROSPECTION = 10_000

/** An alias so long makes values cost as much as two, one twice as long as much as three, in UTF-16 units. */
const LONG = 200

interface Paged {
  readonly first?: number | null | undefined
  readonly last?: number | null | undefined
}

/** How many entries a page has at most. A size that makes no sense is refused later; here it only must not make anything cheap. */
const entriesOf = ({ first, last }: Paged): number => {
  const size = Math.max(first ?? 0, last ?? 0, first == null && last == null ? DEFAULT_PAGE : 0)
  return Math.min(size, MAX_PAGE)
}

/** A connection: its page is read once, and everything in it counts for each entry. */
export const connectionCost = (args: Paged) => {
  const entries = entriesOf(args)
  return { field: READ + ENTRY * entries, multiplier: Math.max(1, entries) }
}

/** Entries are counted by their connection. */
export const edgesCost = { field: 1, multiplier: 1 }

interface Patch {
  readonly jsonPatch?: readonly unknown[] | null | undefined
  readonly textEdits?: { readonly edits: readonly unknown[] } | null | undefined
}

/** A patch counts by its steps. One that copies may double what there is. */
export const patchCost = ({ jsonPatch, textEdits }: Patch): number => {
  const operations = jsonPatch ?? []
  const replacements = textEdits?.edits ?? []
  const copies = operations.filter(isCopy).length
  return (
    OPERATION * operations.length +
    REPLACEMENT * replacements.length +
    (copies === 0 ? 0 : Math.min(2 ** copies, MOST_COPIED))
  )
}

const isCopy = (operation: unknown): boolean =>
  typeof operation === 'object' && operation !== null && 'op' in operation && operation.op === 'copy'

/** Nodes by their global ids. */
export const nodesCost = ({ ids }: { readonly ids: readonly unknown[] }) => ({
  field: NODE * ids.length,
  multiplier: Math.max(1, ids.length),
})

/**
 * The cost of an operation of a valid document. Fragments are calculated once, however often they are used.
 *
 * @throws GraphQLError when an argument has no value it could have.
 */
export const operationCost = (
  schema: GraphQLSchema,
  document: DocumentNode,
  operation: OperationDefinitionNode,
  variables: Record<string, unknown>,
): number => {
  const fragments = document.definitions.filter(({ kind }) => kind === Kind.FRAGMENT_DEFINITION)
  const asked: DocumentNode = { kind: Kind.DOCUMENT, definitions: [operation, ...fragments] }
  const { complexity } = complexityFromQuery(asked, { schema, variables })
  if (Number.isNaN(complexity)) return Number.POSITIVE_INFINITY
  return complexity * (1 + Math.floor(longestAlias(asked) / LONG)) + introspectionCost(asked)
}

/** In UTF-16 units. Results hold an alias as often as what it stands for. */
const longestAlias = (document: DocumentNode): number => {
  let longest = 0
  visit(document, {
    Field: ({ alias }) => {
      longest = Math.max(longest, alias?.value.length ?? 0)
    },
  })
  return longest
}

/** The same schema; each field costs what its arguments hold besides what it says, wherever it is used. */
export const charged = (schema: GraphQLSchema): GraphQLSchema => {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      if (field.args.length === 0) continue
      const said: unknown = field.extensions['complexity']
      const complexity = (args: object, ...rest: unknown[]) => {
        const own: unknown = typeof said === 'function' ? Reflect.apply(said, null, [args, ...rest]) : said
        return withCost(own, argumentsCost(args))
      }
      field.extensions = { ...field.extensions, complexity }
    }
  }
  return schema
}

/** What a field says, which is a number, or has one beside the multiplier of what is in it; and so much more. */
const withCost = (said: unknown, cost: number): unknown => {
  if (typeof said === 'number') return said + cost
  const own = typeof said === 'object' && said !== null ? said : {}
  return { ...own, field: ('field' in own && typeof own.field === 'number' ? own.field : 1) + cost }
}

/** What the arguments of a field cost: nothing, where they are small. */
const argumentsCost = (args: object): number => {
  const { values, units } = sizeOf(args)
  return 2 * Math.floor(values / VALUES) + Math.floor(units / UNITS)
}

/** Whether a field asks for the schema, or for a type of it. */
export const asksForSchema = ({ name: { value } }: FieldNode): boolean =>
  value === '__schema' || value === '__type'

const introspectionCost = (document: DocumentNode): number => {
  let cost = 0
  visit(document, {
    Field: (field) => {
      if (asksForSchema(field)) cost += INTROSPECTION
    },
  })
  return cost
}

/** What `count` commands cost, besides what is asked of their results. */
export const commandsCost = (count: number): number => COMMAND * count
