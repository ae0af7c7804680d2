/** What is in an operation, for those who have to tell its name from its content. */
import { type DocumentNode, Kind, type OperationDefinitionNode, type SelectionSetNode, visit } from 'graphql'

/** The one field that a valid subscription selects. */
export const subscribedField = (
  document: DocumentNode,
  { selectionSet }: OperationDefinitionNode,
): string | undefined => fieldIn(selectionSet, document, new Set())

const fieldIn = (
  { selections }: SelectionSetNode,
  document: DocumentNode,
  seen: Set<string>,
): string | undefined => {
  for (const selection of selections) {
    switch (selection.kind) {
      case Kind.FIELD:
        return selection.name.value
      case Kind.INLINE_FRAGMENT: {
        const field = fieldIn(selection.selectionSet, document, seen)
        if (field !== undefined) return field
        break
      }
      case Kind.FRAGMENT_SPREAD: {
        const name = selection.name.value
        const field = seen.has(name) ? undefined : fieldInFragment(name, document, seen.add(name))
        if (field !== undefined) return field
        break
      }
    }
  }
  return undefined
}

const fieldInFragment = (name: string, document: DocumentNode, seen: Set<string>): string | undefined => {
  for (const definition of document.definitions) {
    if (definition.kind === Kind.FRAGMENT_DEFINITION && definition.name.value === name)
      return fieldIn(definition.selectionSet, document, seen)
  }
  return undefined
}

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
