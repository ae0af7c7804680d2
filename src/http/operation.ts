/** What is in an operation, for those who have to tell its name from its content. */
import {
  type DocumentNode,
  type FragmentDefinitionNode,
  Kind,
  type OperationDefinitionNode,
  type SelectionSetNode,
  visit,
} from 'graphql'
import type { GraphQLParams } from 'graphql-yoga'

/** The fragments of a document, by name. */
export const fragmentsIn = ({ definitions }: DocumentNode): Map<string, FragmentDefinitionNode> => {
  const fragments = new Map<string, FragmentDefinitionNode>()
  for (const definition of definitions)
    if (definition.kind === Kind.FRAGMENT_DEFINITION) fragments.set(definition.name.value, definition)
  return fragments
}

/** The one field that a valid subscription selects. */
export const subscribedField = (
  document: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): string | undefined => fieldIn(selectionSet, fragmentsIn(document))

const fieldIn = (
  { selections }: SelectionSetNode,
  fragments: Map<string, FragmentDefinitionNode>,
): string | undefined => {
  for (const selection of selections) {
    switch (selection.kind) {
      case Kind.FIELD:
        return selection.name.value
      case Kind.INLINE_FRAGMENT: {
        const field = fieldIn(selection.selectionSet, fragments)
        if (field !== undefined) return field
        break
      }
      case Kind.FRAGMENT_SPREAD: {
        const fragment = fragments.get(selection.name.value)
        // Once is enough.
        fragments.delete(selection.name.value)
        const field = fragment && fieldIn(fragment.selectionSet, fragments)
        if (field !== undefined) return field
        break
      }
    }
  }
  return undefined
}

type Nullish<Given> = { readonly [Name in keyof Given]?: Given[Name] | null | undefined }

/** What is asked for, once it is known which document that is. Its extensions have been read by then. */
export const operationOf = (
  { operationName, variables }: Nullish<Pick<GraphQLParams, 'operationName' | 'variables'>>,
  query: string,
): GraphQLParams => ({
  query,
  ...(typeof operationName === 'string' && { operationName }),
  ...(variables && { variables }),
})

/** The same text, on its own: one that was cut out of another holds all of the other. */
export const onItsOwn = (text: string): string => Buffer.from(text, 'utf16le').toString('utf16le')

/** The texts in a document and its variables. */
export function* textsIn(document: DocumentNode, variables: unknown): Generator<string> {
  const literals: string[] = []
  visit(document, { StringValue: ({ value }) => void literals.push(value) })
  yield* literals
  yield* textsOf(variables)
}

/** The texts in a value, however deep. */
export function* textsOf(value: unknown): Generator<string> {
  const open = [value]
  while (open.length > 0) {
    const next = open.pop()
    if (typeof next === 'string' || typeof next === 'number') yield String(next)
    else if (typeof next === 'object' && next !== null)
      for (const inner of Object.values(next)) open.push(inner)
  }
}
