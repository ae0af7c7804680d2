/** What a GraphQL document may cost before it is executed. */
import {
  type DocumentNode,
  GraphQLError,
  type ParseOptions,
  parse,
  type Source,
  type ValidationRule,
  validate,
} from 'graphql'
import { _createLRUCache, type Plugin } from 'graphql-yoga'

const MAX_TOKENS = 20_000

/** Documents are remembered up to this length, in UTF-16 units; longer ones hold data and do not come again. */
const MAX_CACHED_LENGTH = 8192

const tooDeep = (code: string): GraphQLError =>
  new GraphQLError('The document is nested too deeply.', { extensions: { code } })

const parseBounded = (source: string | Source, options?: ParseOptions): DocumentNode => {
  try {
    return parse(source, { ...options, maxTokens: MAX_TOKENS })
  } catch (error) {
    throw error instanceof RangeError ? tooDeep('GRAPHQL_PARSE_FAILED') : error
  }
}

const validateBounded: typeof validate = (schema, document, rules?: readonly ValidationRule[], ...rest) => {
  try {
    return validate(schema, document, rules, ...rest)
  } catch (error) {
    if (error instanceof RangeError) return [tooDeep('GRAPHQL_VALIDATION_FAILED')]
    throw error
  }
}

/** A document that is too long or too deep is the client's mistake, and no reason to overflow a stack. */
export const useDocumentLimits = (): Plugin => ({
  onParse: ({ setParseFn }) => setParseFn(parseBounded),
  onValidate: ({ setValidationFn }) => setValidationFn(validateBounded),
})

const shortOnly = <Value extends object>() => {
  const cache = _createLRUCache<Value>({ max: 512 })
  return {
    get: (document: string) => cache.get(document),
    set: (document: string, value: Value) => {
      if (document.length <= MAX_CACHED_LENGTH) cache.set(document, value)
    },
  }
}

export const documentCaches = () => ({
  documentCache: shortOnly<DocumentNode>(),
  errorCache: shortOnly<object>(),
})
