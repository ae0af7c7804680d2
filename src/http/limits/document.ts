/**
 * How large a document may be, in tokens, depth and aliases. All of it is decided on the text alone, and before anything is done that takes
 * longer the larger it is: what was found is remembered with the document, whatever its variables are.
 */
import {
  type DocumentNode,
  GraphQLError,
  Kind,
  type ParseOptions,
  parse,
  type SelectionSetNode,
  type Source,
  type ValidationRule,
  validate,
} from 'graphql'
import type { ErrorCode } from '../errors.js'
import { fragmentsIn } from '../operation.js'
import { conditionProblem } from './conditions.js'
import type { Limits } from './limits.js'

export type DocumentLimits = Pick<Limits, 'maxTokens' | 'maxDepth' | 'maxAliases'>

const refused = (code: ErrorCode, message: string): GraphQLError =>
  new GraphQLError(message, { extensions: { code } })

const tooDeep = (limit: number): GraphQLError =>
  refused('DOCUMENT_TOO_DEEP', `The document is nested too deeply: ${limit} levels are taken.`)

/** @throws GraphQLError */
export const parserWithin =
  ({ maxTokens, maxDepth }: DocumentLimits) =>
  (source: string | Source, options?: ParseOptions): DocumentNode => {
    try {
      return withoutTokens(parse(source, { ...options, maxTokens }))
    } catch (error) {
      if (error instanceof RangeError) throw tooDeep(maxDepth)
      if (error instanceof GraphQLError && /tokens\. Parsing aborted/.test(error.message))
        throw refused(
          'DOCUMENT_TOO_LONG',
          `The document has more than the ${maxTokens} tokens that are taken.`,
        )
      throw error
    }
  }

/** Every token leads to all others, comments among them, which nobody asks for once it is parsed. */
const withoutTokens = (document: DocumentNode): DocumentNode => {
  let token = document.loc?.startToken ?? null
  while (token !== null) {
    const { next } = token
    Object.assign(token, { prev: null, next: null })
    token = next
  }
  return document
}

/** As GraphQL's own, for documents within the limits; others are refused first. */
export const validatorWithin =
  (limits: DocumentLimits, hideSuggestions: boolean): typeof validate =>
  (schema, document, rules?: readonly ValidationRule[], options?) => {
    try {
      const problem = sizeProblem(document, limits) ?? conditionProblem(document)
      return problem === null ? validate(schema, document, rules, { ...options, hideSuggestions }) : [problem]
    } catch (error) {
      if (error instanceof RangeError) return [tooDeep(limits.maxDepth)]
      // A rule may look at values, and says so like this when there is none.
      if (error instanceof GraphQLError) return [error]
      throw error
    }
  }

/** Of a selection set, wherever it stands. */
interface Size {
  readonly depth: number
  readonly aliases: number
}

const sizeProblem = (
  document: DocumentNode,
  { maxDepth, maxAliases }: DocumentLimits,
): GraphQLError | null => {
  const fragments = fragmentsIn(document)
  /** Each fragment is looked at once. While it is, it counts for nothing: one in itself is no valid document. */
  const known = new Map<string, Size>()

  const sizeOfFragment = (name: string): Size => {
    const size = known.get(name)
    const fragment = fragments.get(name)
    if (size !== undefined || fragment === undefined) return size ?? { depth: 0, aliases: 0 }
    known.set(name, { depth: 0, aliases: 0 })
    const found = sizeOf(fragment.selectionSet)
    known.set(name, found)
    return found
  }

  const sizeOf = ({ selections }: SelectionSetNode): Size => {
    let depth = 0
    let aliases = 0
    const add = (inner: Size, levels: number) => {
      depth = Math.max(depth, inner.depth + levels)
      aliases += inner.aliases
    }
    for (const selection of selections) {
      switch (selection.kind) {
        case Kind.FIELD:
          if (selection.alias !== undefined && selection.name.value !== '__typename') aliases++
          add(selection.selectionSet ? sizeOf(selection.selectionSet) : { depth: 0, aliases: 0 }, 1)
          break
        case Kind.INLINE_FRAGMENT:
          add(sizeOf(selection.selectionSet), 0)
          break
        case Kind.FRAGMENT_SPREAD:
          add(sizeOfFragment(selection.name.value), 0)
          break
      }
    }
    return { depth, aliases }
  }

  for (const definition of document.definitions) {
    if (definition.kind !== Kind.OPERATION_DEFINITION && definition.kind !== Kind.FRAGMENT_DEFINITION)
      continue
    const { depth, aliases } = sizeOf(definition.selectionSet)
    if (depth > maxDepth) return tooDeep(maxDepth)
    if (aliases > maxAliases)
      return refused(
        'TOO_MANY_ALIASES',
        `The document has more than the ${maxAliases} aliases that are taken.`,
      )
  }
  return null
}
