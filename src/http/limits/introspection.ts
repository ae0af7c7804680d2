/** Whether the schema may be asked for. `__typename` always may. */
import { GraphQLError, type ValidationRule } from 'graphql'
import { asksForSchema } from '../../graphql/cost.js'
import type { ErrorCode } from '../errors.js'

export const noIntrospection: ValidationRule = (context) => ({
  Field: (node) => {
    if (!asksForSchema(node)) return
    const code = 'INTROSPECTION_DISABLED' satisfies ErrorCode
    context.reportError(
      new GraphQLError('The schema cannot be asked for here.', { nodes: node, extensions: { code } }),
    )
  },
})
