/** Makes an operation that shows a problem smaller: a part is left out for as long as the problem stays. */
import {
  type ArgumentNode,
  type ASTNode,
  type DirectiveNode,
  type DocumentNode,
  Kind,
  parse,
  print,
  type SelectionNode,
  visit,
} from 'graphql'
import type { Operation } from './operations.js'

/** How often it is tried. */
const ATTEMPTS = 150

/** @param shows Whether an operation shows the problem. */
export const shrunk = async (
  operation: Operation,
  shows: (smaller: Operation) => Promise<boolean>,
): Promise<Operation> => {
  let best = operation
  let attempts = 0
  for (let part = 0; attempts < ATTEMPTS; ) {
    const smaller = without(best, part)
    if (smaller === null) break
    attempts++
    if (await shows(smaller)) best = smaller
    else part++
  }
  return best
}

type Part = SelectionNode | ArgumentNode | DirectiveNode

const isPart = (node: ASTNode): node is Part =>
  node.kind === Kind.FIELD ||
  node.kind === Kind.INLINE_FRAGMENT ||
  node.kind === Kind.ARGUMENT ||
  node.kind === Kind.DIRECTIVE

/** The operation without one of its parts, or `null` when it has no such part. */
const without = ({ query, operationName, variables }: Operation, part: number): Operation | null => {
  let met = 0
  let isFound = false
  const document = visit(documentOf(query), {
    enter: (node) => {
      if (!isPart(node) || met++ !== part) return undefined
      isFound = true
      return null
    },
  })
  if (!isFound) return null
  const used = variablesIn(document)
  const tidy = visit(document, {
    VariableDefinition: ({ variable }) => (used.has(variable.name.value) ? undefined : null),
  })
  const left = Object.entries(variables).filter(([name]) => used.has(name))
  return { query: print(tidy), operationName, variables: Object.fromEntries(left) }
}

const variablesIn = (document: DocumentNode): ReadonlySet<string> => {
  const names = new Set<string>()
  visit(document, {
    VariableDefinition: () => false,
    Variable: ({ name }) => void names.add(name.value),
  })
  return names
}

const documentOf = (query: string): DocumentNode => {
  try {
    return parse(query)
  } catch {
    return { kind: Kind.DOCUMENT, definitions: [] }
  }
}
