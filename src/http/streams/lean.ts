/**
 * What a stream holds of what it was asked with, for as long as it lasts: what its frames are made by, and nothing else. A document may be
 * longer than the operation in it, variables may hold what no operation declares, and streams stay by the thousand.
 */
import {
  type DocumentNode,
  type ExecutionArgs,
  getOperationAST,
  OperationTypeNode,
  parse,
  print,
  separateOperations,
} from 'graphql'
import { isAsyncIterable, type Plugin } from 'graphql-yoga'
import { MAX_CACHED_LENGTH } from '../documents.js'

export const useLeanStreams = (): Plugin => ({
  onSubscribe: ({ args }) => {
    args.document = leanDocument(args.document, args.operationName)
    return {
      onSubscribeResult: ({ result }) => {
        if (isAsyncIterable(result)) forget(args)
      },
    }
  },
})

/** A subscription alone, in a text of its own. One that is remembered anyway is shared as it is. */
export const leanDocument = (
  document: DocumentNode,
  operationName: ExecutionArgs['operationName'],
): DocumentNode => {
  if ((document.loc?.end ?? 0) <= MAX_CACHED_LENGTH) return document
  const operation = getOperationAST(document, operationName)
  if (operation?.operation !== OperationTypeNode.SUBSCRIPTION) return document
  const alone = separateOperations(document)[operation.name?.value ?? '']
  // Nodes of the document would hold all of its text, and places in another text would be none.
  return alone === undefined ? document : parse(print(alone), { noLocation: true })
}

/** Whoever executes it has taken out of this what it needs; everyone else still has this in hand. */
const forget = (args: Pick<ExecutionArgs, 'variableValues' | 'contextValue'>): void => {
  args.variableValues = {}
  const params = paramsIn(args.contextValue)
  for (const name of Object.keys(params)) Reflect.deleteProperty(params, name)
}

const paramsIn = (context: unknown): object =>
  typeof context === 'object' && context !== null && 'params' in context && typeof context.params === 'object'
    ? (context.params ?? {})
    : {}
