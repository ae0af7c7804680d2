/** The scalars beyond GraphQL's own. What they refuse, they refuse with the code BAD_USER_INPUT. */
import { type ASTNode, Kind, print, type ValueNode } from 'graphql'
import { GraphQLDateTime } from 'graphql-scalars'
import { type JsonValue, jsonSchema } from '../core/json.js'
import { builder } from './builder.js'
import { graphqlError } from './errors.js'

const refuse = (message: string, nodes: ASTNode | null = null) =>
  graphqlError('BAD_USER_INPUT', message, { nodes })

const toSeq = (value: unknown, shown: string, nodes: ASTNode | null = null): number => {
  if (typeof value === 'number' && Number.isSafeInteger(value) && value >= 0) return value
  throw refuse(`Seq must be a whole number from 0 to ${Number.MAX_SAFE_INTEGER}, not ${shown}`, nodes)
}

builder.scalarType('Seq', {
  description: "A position in a workspace's log: a whole number from 0 (before the first event) to 2^53-1.",
  serialize: (seq) => toSeq(seq, String(seq)),
  parseValue: (value) => toSeq(value, JSON.stringify(value)),
  parseLiteral: (node) => toSeq(node.kind === Kind.INT ? Number(node.value) : null, print(node), node),
})

builder.addScalarType('DateTime', GraphQLDateTime, {
  description: 'An instant, RFC 3339 in UTC with milliseconds, such as 2026-10-01T09:30:00.000Z.',
})

type Variables = Readonly<Record<string, unknown>> | null | undefined

/** A field whose variable was not given is left out, as in an input object. */
const isGiven = (node: ValueNode, variables: Variables): boolean =>
  node.kind !== Kind.VARIABLE || variables?.[node.name.value] !== undefined

const parsed = new WeakMap<object, JsonValue>()

/** The value of a variable within a literal, looked at once however often it is used. */
const fromVariable = (value: unknown): JsonValue => {
  if (typeof value !== 'object' || value === null) return jsonSchema.parse(value ?? null)
  const json = parsed.get(value) ?? jsonSchema.parse(value)
  parsed.set(value, json)
  return json
}

const fromLiteral = (node: ValueNode, variables: Variables): JsonValue => {
  switch (node.kind) {
    case Kind.NULL:
      return null
    case Kind.STRING:
    case Kind.BOOLEAN:
      return node.value
    case Kind.INT:
    case Kind.FLOAT:
      return Number(node.value)
    case Kind.LIST:
      return node.values.map((item) => fromLiteral(item, variables))
    case Kind.OBJECT:
      // Object.fromEntries defines each key as an own property, `__proto__` included.
      return Object.fromEntries(
        node.fields
          .filter(({ value }) => isGiven(value, variables))
          .map(({ name, value }) => [name.value, fromLiteral(value, variables)]),
      )
    case Kind.VARIABLE:
      return fromVariable(variables?.[node.name.value])
    case Kind.ENUM:
      throw refuse(`JSON cannot hold ${node.value}; did you mean "${node.value}"?`, node)
  }
}

/** A null that stands alone is GraphQL's affair: it is dealt with before a scalar is asked. */
const notNull = (value: JsonValue): NonNullable<JsonValue> => {
  if (value === null) throw refuse('JSON does not take null here')
  return value
}

builder.scalarType('JSON', {
  description: 'Any JSON value. The order of keys is kept.',
  serialize: (value) => value,
  parseValue: (value) => notNull(jsonSchema.parse(value)),
  parseLiteral: (node, variables) => notNull(fromLiteral(node, variables)),
})
