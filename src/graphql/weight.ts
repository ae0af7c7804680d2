/**
 * How much a result holds, counted while it is made: what fields cost is known beforehand, and how long the texts and data are that they
 * hold is not. Whoever counts ends the operation by throwing.
 */
import { defaultFieldResolver, type GraphQLSchema, getNamedType, isObjectType } from 'graphql'
import { bytesOf } from './bytes.js'
import type { GraphQLContext } from './context.js'

/** Scalars whose values have no bound. */
const UNBOUNDED: ReadonlySet<string> = new Set(['String', 'ID', 'JSON'])

/** The same schema; each text and all data are told to `GraphQLContext.onBytes` before they are in a result. */
export const weighed = (schema: GraphQLSchema): GraphQLSchema => {
  for (const type of Object.values(schema.getTypeMap())) {
    if (!isObjectType(type) || type.name.startsWith('__')) continue
    for (const field of Object.values(type.getFields())) {
      if (!UNBOUNDED.has(getNamedType(field.type).name)) continue
      const resolve = field.resolve ?? defaultFieldResolver
      field.resolve = (source, args, context: GraphQLContext, info) => {
        const value: unknown = resolve(source, args, context, info)
        const weigh = (found: unknown) => {
          context.onBytes?.(bytesOf(found))
          return found
        }
        return value instanceof Promise ? value.then(weigh) : weigh(value)
      }
    }
  }
  return schema
}
