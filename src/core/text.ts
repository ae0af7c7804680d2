/**
 * What strings may hold (domain §2). Ids are compared exactly, so they are never trimmed or normalised: they are only accepted or refused.
 */
import { z } from 'zod'

const MAX_ID_BYTES = 255

/** U+0000–U+001F and U+007F. */
const holdsControlCharacter = (value: string): boolean => {
  for (let i = 0; i < value.length; i++) {
    const code = value.charCodeAt(i)
    if (code < 0x20 || code === 0x7f) return true
  }
  return false
}

/** The length in UTF-8 of a well-formed string. */
const utf8Length = (value: string): number => new TextEncoder().encode(value).length

/** A UTF-16 unit takes one to three bytes, so that most strings need not be encoded to know. */
const isTooLong = (value: string): boolean =>
  value.length > MAX_ID_BYTES || (3 * value.length > MAX_ID_BYTES && utf8Length(value) > MAX_ID_BYTES)

/** Why a string is no id, or `null` when it is one. */
export const idProblem = (value: string): string | null => {
  if (value === '') return 'must not be empty'
  if (!value.isWellFormed()) return 'must be well-formed Unicode, without lone surrogates'
  if (holdsControlCharacter(value)) return 'must not hold control characters'
  return isTooLong(value) ? `must have at most ${MAX_ID_BYTES} bytes in UTF-8` : null
}

/** Why a string is no text, or `null` when it is one. */
export const textProblem = (value: string): string | null => {
  if (!value.isWellFormed()) return 'must be well-formed Unicode, without lone surrogates'
  return value.includes('\u0000') ? 'must not hold U+0000' : null
}

/** What names of actors hold at most, in UTF-16 units. */
const MAX_NAME_LENGTH = 1_000

/** Why a string is no name to show, or `null` when it is one. */
export const nameProblem = (value: string): string | null => {
  if (value === '') return 'must not be empty'
  return value.length > MAX_NAME_LENGTH
    ? `must have at most ${MAX_NAME_LENGTH} UTF-16 units`
    : textProblem(value)
}

const refine = (problem: (value: string) => string | null) =>
  z.string().superRefine((value, context) => {
    const message = problem(value)
    if (message !== null) context.addIssue({ code: 'custom', message })
  })

/** An id: 1 to 255 bytes in UTF-8, well-formed, without control characters. */
export const idSchema = refine(idProblem)

/** A name to show: 1 to 1,000 UTF-16 units of text. */
export const nameSchema = refine(nameProblem)

/** Text of any length: well-formed, without U+0000. */
export const textSchema = refine(textProblem)
