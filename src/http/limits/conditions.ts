/**
 * What a subscription selects at its root may depend on no variable: it is found valid before there are any, and begins with one field. So
 * GraphQL's specification has neither `@skip` nor `@include` there.
 */
import {
  type DirectiveNode,
  type DocumentNode,
  GraphQLError,
  GraphQLIncludeDirective,
  GraphQLSkipDirective,
  Kind,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql'
import { fragmentsIn } from '../operation.js'

/** What is wrong with the first condition at the root of a subscription, also in its fragments; `null` when there is none. */
export const conditionProblem = (document: DocumentNode): GraphQLError | null => {
  const directive = conditionIn(document)
  return directive === undefined
    ? null
    : new GraphQLError(
        `Directive "@${directive.name.value}" may not be used at the root of a subscription.`,
        { nodes: directive },
      )
}

const conditionIn = (document: DocumentNode): DirectiveNode | undefined => {
  const fragments = fragmentsIn(document)
  const inSelections = ({ selections }: SelectionSetNode): DirectiveNode | undefined => {
    for (const selection of selections) {
      const found = selection.directives?.find(isCondition) ?? inside(selection)
      if (found !== undefined) return found
    }
    return undefined
  }
  const inside = (selection: SelectionSetNode['selections'][number]): DirectiveNode | undefined => {
    if (selection.kind === Kind.INLINE_FRAGMENT) return inSelections(selection.selectionSet)
    if (selection.kind === Kind.FIELD) return undefined
    const fragment = fragments.get(selection.name.value)
    // Once is enough.
    fragments.delete(selection.name.value)
    return fragment && inSelections(fragment.selectionSet)
  }
  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION) continue
    if (definition.operation !== OperationTypeNode.SUBSCRIPTION) continue
    const found = inSelections(definition.selectionSet)
    if (found !== undefined) return found
  }
  return undefined
}

const isCondition = ({ name: { value } }: DirectiveNode): boolean =>
  value === GraphQLSkipDirective.name || value === GraphQLIncludeDirective.name
