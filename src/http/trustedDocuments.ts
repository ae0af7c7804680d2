/**
 * Documents that clients name instead of sending them, by ids agreed on when both were built: as `extensions.persistedQuery.sha256Hash`
 * (Apollo, urql) or as `documentId` (GraphQL over HTTP, Relay). Unless told otherwise, nothing else is carried out then.
 */
import { readFileSync } from 'node:fs'
import { GraphQLError, type GraphQLSchema, specifiedRules } from 'graphql'
import { z } from 'zod'
import { badRequest, refusal } from './errors.js'
import { type DocumentLimits, parserWithin, validatorWithin } from './limits/document.js'

export interface TrustedDocuments {
  /** The documents by their ids. */
  readonly documents: Readonly<Record<string, string>>
  /** Whether nothing else is carried out; so it is unless told otherwise. */
  readonly only?: boolean | undefined
}

/** Whether nothing but trusted documents is carried out. */
export const isOnly = (trusted: TrustedDocuments | undefined): boolean =>
  trusted !== undefined && trusted.only !== false

/** Trusted documents that cannot be used: everything that is wrong with them. */
export class InvalidTrustedDocuments extends Error {
  override readonly name = 'InvalidTrustedDocuments'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(problems.join('\n'))
    this.problems = problems
  }
}

/**
 * Reads the JSON file that GraphQL Code Generator and Relay write: an object of documents by id.
 *
 * @throws InvalidTrustedDocuments
 */
export const readTrustedDocuments = (path: string): TrustedDocuments['documents'] => {
  const problem = (what: string) => new InvalidTrustedDocuments([what])
  const { success, data } = z.record(z.string(), z.string()).safeParse(jsonIn(path, problem))
  if (!success) throw problem('the file must hold a JSON object of documents by id')
  return data
}

const jsonIn = (path: string, problem: (what: string) => Error): unknown => {
  let text: string
  try {
    text = readFileSync(path, 'utf8')
  } catch (error) {
    throw problem(`the file cannot be read: ${error instanceof Error ? error.message : String(error)}`)
  }
  try {
    return JSON.parse(text)
  } catch {
    throw problem('the file is not JSON')
  }
}

/** @throws InvalidTrustedDocuments naming those that are no documents of this schema, or beyond the limits. */
export const checkTrustedDocuments = (
  { documents }: TrustedDocuments,
  schema: GraphQLSchema,
  limits: DocumentLimits,
): void => {
  const parse = parserWithin(limits)
  const validate = validatorWithin(limits, false)
  const problemsOf = (text: string): readonly string[] => {
    try {
      return validate(schema, parse(text), specifiedRules).map(({ message }) => message)
    } catch (error) {
      if (error instanceof GraphQLError) return [error.message]
      throw error
    }
  }
  const problems = Object.entries(documents).flatMap(([id, text]) =>
    problemsOf(text).map((problem) => `the document ${JSON.stringify(id)} is not valid: ${problem}`),
  )
  if (problems.length > 0) throw new InvalidTrustedDocuments(problems)
}

/** What is asked, before it is known which document that is. */
interface Asked {
  readonly query?: string | null | undefined
  /** As it came. */
  readonly documentId?: unknown
  readonly extensions?: Readonly<Record<string, unknown>> | null | undefined
}

/** The text of the document that is asked for. @throws GraphQLError */
export type DocumentOf = (asked: Asked) => string

export const documentsFrom = (trusted: TrustedDocuments | undefined): DocumentOf => {
  const documents = new Map(Object.entries(trusted?.documents ?? {}))
  const only = isOnly(trusted)
  return (asked) => {
    const id = idIn(asked)
    // The protocol of WebSockets insists on a text: an empty one stands for none.
    const query = id !== null && asked.query === '' ? null : (asked.query ?? null)
    if (id === null && query === null) throw badRequest('The request is not understood: query is required.')
    const text = id === null ? undefined : documents.get(id)
    if (query !== null && !only) {
      if (text !== undefined && text !== query)
        throw badRequest('The document is not the one of the id that is given with it.')
      return query
    }
    if (query !== null && query !== text)
      throw refusal(
        400,
        'TRUSTED_DOCUMENTS_ONLY',
        'Only documents that are known here are carried out: ask for one by its id.',
      )
    if (text !== undefined) return text
    // The messages are what clients of Apollo's protocol look for.
    throw trusted === undefined
      ? refusal(400, 'PERSISTED_QUERY_NOT_SUPPORTED', 'PersistedQueryNotSupported')
      : refusal(400, 'PERSISTED_QUERY_NOT_FOUND', 'PersistedQueryNotFound')
  }
}

const idIn = ({ documentId, extensions }: Asked): string | null => {
  if (typeof documentId === 'string') return documentId.replace(/^sha256:/, '')
  if (documentId !== undefined && documentId !== null)
    throw badRequest('The request is not understood: documentId must be a string.')
  const persisted = extensions?.['persistedQuery']
  if (persisted === undefined || persisted === null) return null
  const hash = typeof persisted === 'object' && 'sha256Hash' in persisted ? persisted.sha256Hash : undefined
  if (typeof hash === 'string') return hash
  throw badRequest('The request is not understood: extensions.persistedQuery.sha256Hash must be a string.')
}
