/**
 * Errors as they are logged: what kind, where, and why in codes. What drivers, parsers and agents write into their messages may be anything
 * somebody said, or a password; messages are logged only of errors that say nothing of the values they are about.
 */
import { type Logger, pino } from 'pino'
import { StorageUnavailable } from '../storage/port.js'

interface LoggedError {
  readonly type: string
  readonly message?: string | undefined
  /** Such as a SQLSTATE, or what the operating system calls it. */
  readonly code?: string | undefined
  /** Of what failed validation: where, and which rule. */
  readonly issues?: readonly string[] | undefined
  /** Where it was thrown, without its message. */
  readonly stack?: string | undefined
  readonly cause?: unknown
}

/** A log on standard output, whose lines hold nothing that anybody said. */
export const createLog = (level: string): Logger =>
  pino({ name: 'artifactr-gateway', level, serializers: { err: serializeError } }, process.stdout)

/** How many causes of causes are logged. */
const MAX_DEPTH = 5

/** For the `serializers` of a pino logger: `pino({ serializers: { err: serializeError } })`. */
export const serializeError = (error: unknown): unknown => serialized(error, MAX_DEPTH)

const serialized = (error: unknown, depth: number): unknown => {
  if (!(error instanceof Error)) return { type: typeof error }
  const logged: LoggedError = {
    type: error.name,
    message: isTelling(error) ? error.message : undefined,
    code: codeOf(error),
    issues: issuesOf(error),
    stack: framesOf(error),
    cause: error.cause === undefined || depth === 0 ? undefined : serialized(error.cause, depth - 1),
  }
  return logged
}

/** JavaScript's own errors about programs, those of the operating system, and ours about the storage. */
const isTelling = (error: Error): boolean =>
  error instanceof ReferenceError ||
  error instanceof StorageUnavailable ||
  (error.constructor === TypeError && !('code' in error)) ||
  isOfSystem(error)

const isOfSystem = (error: Error): boolean =>
  'syscall' in error && typeof error.syscall === 'string' && 'errno' in error

const CODE = /^[A-Z0-9_]{1,64}$/

/** What zod calls the rules. */
const RULE = /^[a-z_]{1,64}$/

/** Of the error itself, or of the driver's error that Prisma made it of. */
const codeOf = (error: Error): string | undefined => {
  for (const code of [fieldOf(driverCauseOf(error), 'originalCode'), fieldOf(error, 'code')])
    if (typeof code === 'string' && CODE.test(code)) return code
  return undefined
}

const driverCauseOf = (error: Error): unknown => {
  const cause = fieldOf(fieldOf(fieldOf(error, 'meta'), 'driverAdapterError'), 'cause')
  return cause ?? error.cause
}

const fieldOf = (value: unknown, name: string): unknown =>
  typeof value === 'object' && value !== null && name in value ? Reflect.get(value, name) : undefined

/** The keys on the way to an issue may be a client's as well: only how deep it lies is told of those that are no position. */
const issuesOf = (error: Error): readonly string[] | undefined => {
  const issues = fieldOf(error, 'issues')
  if (!Array.isArray(issues)) return undefined
  return issues.slice(0, 10).map((issue) => {
    const code = fieldOf(issue, 'code')
    const path = fieldOf(issue, 'path')
    return `${typeof code === 'string' && RULE.test(code) ? code : 'invalid'} at depth ${Array.isArray(path) ? path.length : 0}`
  })
}

/** The lines of a stack that say where: its first ones repeat the message, which may have any number of lines. */
const framesOf = ({ stack = '', message }: Error): string | undefined => {
  const start = message === '' ? 0 : stack.indexOf(message) + message.length
  const frames = stack
    .slice(start)
    .split('\n')
    .filter((line) => /^ {4}at /.test(line))
  return frames.length === 0 ? undefined : frames.join('\n')
}
