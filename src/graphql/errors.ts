/** The errors of reads, each with a stable code in its extensions. Writes answer with rejections instead (`rejections.ts`). */
import { type ASTNode, GraphQLError } from 'graphql'
import { Forbidden, ValidationFailed } from '../core/rejections.js'
import { idProblem, textProblem } from '../core/text.js'

export type ErrorCode =
  | 'BAD_USER_INPUT'
  | 'FORBIDDEN'
  | 'RESPONSE_TOO_LARGE'
  | 'SERVICE_UNAVAILABLE'
  | 'TOKEN_EXPIRED'

interface ErrorDetails {
  /** The argument that is wrong. */
  readonly argument?: string | undefined
  /** In bytes. */
  readonly limit?: number
  readonly nodes?: ASTNode | null | undefined
  /** Whether trying again may help. */
  readonly retryable?: true
}

export const graphqlError = (
  code: ErrorCode,
  message: string,
  { nodes, ...details }: ErrorDetails = {},
): GraphQLError =>
  new GraphQLError(message, {
    nodes: nodes ?? null,
    extensions: { code, ...details },
  })

/** An argument of a read that is wrong, such as `first must not be negative`. */
export const badArgument = (argument: string, problem: string): GraphQLError =>
  graphqlError('BAD_USER_INPUT', `${argument} ${problem}`, { argument })

/** What a read does, with the refusals of the layers below as errors. Anything unforeseen is thrown on as it is. */
export const reading = async <Result>(read: () => Result | Promise<Result>): Promise<Result> => {
  try {
    return await read()
  } catch (error) {
    throw asReadError(error)
  }
}

const asReadError = (error: unknown): unknown => {
  if (error instanceof ValidationFailed) {
    const argument = error.issues[0]?.path[0]
    return graphqlError('BAD_USER_INPUT', error.message, argument === undefined ? {} : { argument })
  }
  if (error instanceof Forbidden) return graphqlError('FORBIDDEN', error.message)
  return error
}

/** @throws GraphQLError naming the argument when it is no id. */
export const checkId = (argument: string, id: string): string => checked(argument, id, idProblem)

/** The most ids that a read is asked for by, and looks at one by one. */
const MAX_IDS = 200

/** @throws GraphQLError naming the argument when they are too many, or which of them is no id. */
export const checkIds = (
  argument: string,
  ids: readonly string[] | null | undefined,
): readonly string[] | undefined => {
  if (ids === null || ids === undefined) return undefined
  if (ids.length > MAX_IDS) throw badArgument(argument, `must not have more than ${MAX_IDS} ids`)
  for (const [index, id] of ids.entries()) checkId(`${argument}.${index}`, id)
  return ids
}

/** @throws GraphQLError naming the argument when it is no text. */
export const checkText = (argument: string, text: string): string => checked(argument, text, textProblem)

const checked = (argument: string, value: string, problemOf: (value: string) => string | null): string => {
  const problem = problemOf(value)
  if (problem !== null) throw badArgument(argument, problem)
  return value
}
