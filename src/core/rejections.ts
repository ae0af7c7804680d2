/**
 * Why a command is refused (domain §6). A refused command changes nothing and appends nothing. Anything else that is thrown is a bug.
 */
import type { z } from 'zod'

export type InvalidStateReason =
  | 'already_exists'
  | 'archived'
  | 'already_resolved'
  | 'already_answered'
  | 'not_paused'
  | 'wrong_answer'
  | 'wrong_thread'
  | 'run_not_active'

export type RejectionCode =
  | 'invalid_state'
  | 'not_found'
  | 'version_conflict'
  | 'validation_failed'
  | 'patch_failed'
  | 'forbidden'

/** What every refusal has: a stable code and a message for people. */
export abstract class Rejection extends Error {
  abstract readonly code: RejectionCode
  override get name(): string {
    return this.constructor.name
  }
}

/** The workspace is not in a state in which the command can be carried out. */
export class InvalidState extends Rejection {
  readonly code = 'invalid_state'
  readonly reason: InvalidStateReason
  readonly entity: string | undefined
  readonly id: string | undefined

  constructor(reason: InvalidStateReason, message: string, about?: { entity: string; id: string }) {
    super(message)
    this.reason = reason
    this.entity = about?.entity
    this.id = about?.id
  }
}

/** `message m1 already exists`: a create with an id that is used, which tells a caller that an earlier attempt succeeded (ADR-0045). */
export const alreadyExists = (entity: string, id: string): InvalidState =>
  new InvalidState('already_exists', `${entity} ${id} already exists`, {
    entity,
    id,
  })

/** `thread t9 does not exist`, or `artifact a1 does not exist at version 9`. */
export class NotFound extends Rejection {
  readonly code = 'not_found'
  readonly entity: string
  readonly id: string

  constructor(entity: string, id: string, where = '') {
    super(`${entity} ${id} does not exist${where}`)
    this.entity = entity
    this.id = id
  }
}

/** The change is based on another version than the artifact is at. */
export class VersionConflict extends Rejection {
  readonly code = 'version_conflict'
  readonly artifactId: string
  readonly base: number
  readonly head: number

  constructor(artifactId: string, base: number, head: number) {
    super(`artifact ${artifactId} is at version ${head}; this change is based on version ${base}`)
    this.artifactId = artifactId
    this.base = base
    this.head = head
  }
}

/** A problem with one field; `path` leads from the command to it. */
export interface ValidationIssue {
  readonly path: readonly string[]
  readonly message: string
}

/** How many fields a refusal names. */
const MAX_ISSUES = 100

/** The command itself is malformed, or data in it does not fit its type. */
export class ValidationFailed extends Rejection {
  readonly code = 'validation_failed'
  readonly issues: readonly ValidationIssue[]

  constructor(message: string, issues: readonly ValidationIssue[]) {
    super(message)
    this.issues = issues.slice(0, MAX_ISSUES)
  }

  /** One issue per field that is wrong, of the first hundred; the message names them, and how many more there are. */
  static fromZod(error: z.ZodError): ValidationFailed {
    const issues = issuesOf(error)
    const named = issues.slice(0, MAX_ISSUES).map(describeIssue)
    const more = issues.length - named.length
    return new ValidationFailed([...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; '), issues)
  }
}

/** What zod found, one issue per field: each key that is not known is named by its own path. */
export const issuesOf = ({ issues }: z.ZodError): readonly ValidationIssue[] =>
  issues.flatMap((issue) => {
    const path = issue.path.map(String)
    return issue.code === 'unrecognized_keys'
      ? issue.keys.map((key) => ({ path: [...path, key], message: 'is not known' }))
      : [{ path, message: issue.message }]
  })

/** `title must not be empty`; a message that is a sentence of its own is set off by a colon. */
const describeIssue = ({ path, message }: ValidationIssue): string => {
  if (path.length === 0) return message
  return `${path.join('.')}${/^[A-Z]/.test(message) ? ':' : ''} ${message}`
}

/** One field that is wrong. */
export const invalid = (path: readonly string[], message: string): ValidationFailed =>
  new ValidationFailed(describeIssue({ path, message }), [{ path, message }])

/** The actor may not do this. */
export class Forbidden extends Rejection {
  readonly code = 'forbidden'
}

/** The patch does not apply, or changes nothing. */
export class PatchFailed extends Rejection {
  readonly code = 'patch_failed'
}
