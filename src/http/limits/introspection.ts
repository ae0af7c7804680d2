/** Whether the schema may be asked for. `__typename` always may. */
import { GraphQLError, type ValidationRule } from 'graphql'
import type { ErrorCode } from '../errors.js'

export const noIntrospection: ValidationRule = (context) => ({
  Field: (node) => {
    if (node.name.value !== '__schema' && node.name.value !== '__type') return
    const code = 'INTROSPECTION_DISABLED' satisfies ErrorCode
    context.reportError(
      new GraphQLError('The schema cannot be asked for here.', { nodes: node, extensions: { code } }),
    )
  },
})
