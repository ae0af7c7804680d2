/** How much an operation may cost, known from the document, its variables and what the schema says of its fields before anything is done. */
import {
  type DocumentNode,
  type FieldNode,
  GraphQLError,
  GraphQLIncludeDirective,
  type GraphQLSchema,
  GraphQLSkipDirective,
  getDirectiveValues,
  getVariableValues,
  Kind,
  type OperationDefinitionNode,
  OperationTypeNode,
  type SelectionSetNode,
} from 'graphql'
import { commandsCost, operationCost } from '../../graphql/cost.js'
import { badRequest, refusal } from '../errors.js'
import { fragmentsIn } from '../operation.js'

interface Asked {
  readonly schema: GraphQLSchema
  readonly document: DocumentNode
  readonly operation: OperationDefinitionNode
  readonly variables: Readonly<Record<string, unknown>>
}

export interface Cost {
  readonly cost: number
  /** How many commands it carries out: the root fields of a mutation. */
  readonly commands: number
}

/** What an operation costs, or why it cannot be carried out with these variables. */
export const costOf = (asked: Asked, hideSuggestions: boolean): Cost | readonly GraphQLError[] => {
  const { schema, document, operation, variables } = asked
  const options = { maxErrors: 50, hideSuggestions }
  const { errors, coerced } = getVariableValues(
    schema,
    operation.variableDefinitions ?? [],
    variables,
    options,
  )
  if (errors !== undefined) return errors
  try {
    const commands = operation.operation === OperationTypeNode.MUTATION ? rootFields(asked, coerced) : 0
    return {
      cost: operationCost(schema, document, operation, variables) + commandsCost(commands),
      commands,
    }
  } catch (error) {
    // An argument got null from a variable, or a value is nested beyond what there is a stack for.
    if (error instanceof GraphQLError) return [badRequest(error.message)]
    if (error instanceof RangeError) return [badRequest('A value is nested too deeply.')]
    throw error
  }
}

/** How many fields an operation begins with, once fragments are spread and `@skip` and `@include` are obeyed. */
const rootFields = ({ document, operation }: Asked, variables: Readonly<Record<string, unknown>>): number => {
  const fragments = fragmentsIn(document)
  const keys = new Set<string>()
  const isLeftOut = (node: Parameters<typeof getDirectiveValues>[1]) =>
    getDirectiveValues(GraphQLSkipDirective, node, variables)?.['if'] === true ||
    getDirectiveValues(GraphQLIncludeDirective, node, variables)?.['if'] === false
  const collect = ({ selections }: SelectionSetNode): void => {
    for (const selection of selections) {
      if (isLeftOut(selection)) continue
      switch (selection.kind) {
        case Kind.FIELD:
          if (selection.name.value !== '__typename') keys.add(responseKey(selection))
          break
        case Kind.INLINE_FRAGMENT:
          collect(selection.selectionSet)
          break
        case Kind.FRAGMENT_SPREAD: {
          const fragment = fragments.get(selection.name.value)
          // Once is enough, and cheap.
          fragments.delete(selection.name.value)
          if (fragment !== undefined) collect(fragment.selectionSet)
          break
        }
      }
    }
  }
  collect(operation.selectionSet)
  return keys.size
}

const responseKey = ({ alias, name }: FieldNode): string => (alias ?? name).value

export const tooComplex = (cost: number, limit: number): GraphQLError => {
  const shown = Math.min(Math.ceil(cost), Number.MAX_SAFE_INTEGER)
  return refusal(
    400,
    'QUERY_TOO_COMPLEX',
    `The request costs ${shown}, and at most ${limit} is carried out. Ask for fewer entries, or in several requests.`,
    { cost: shown, limit },
  )
}
