/** JSON Pointers (RFC 6901): where in the data an operation works. They see own properties only, so they never leave the data. */
import { isJsonObject, isUnsafeKey, type JsonValue } from '../json.js'

export type Pointer = readonly string[]

/** Why a string is no pointer into data, or `null` when it is one. */
export const pointerProblem = (pointer: string): string | null => {
  if (pointer !== '' && !pointer.startsWith('/')) return 'must be empty or start with "/"'
  if (/~(?![01])/.test(pointer)) return 'must write "~" as "~0" and "/" as "~1"'
  const unsafe = parsePointer(pointer).find(isUnsafeKey)
  return unsafe === undefined ? null : `must not go through ${unsafe}`
}

/** The tokens of a well-formed pointer; none for the root. */
export const parsePointer = (pointer: string): Pointer =>
  pointer
    .split('/')
    .slice(1)
    .map((token) => token.replaceAll('~1', '/').replaceAll('~0', '~'))

export const formatPointer = (tokens: Pointer): string =>
  tokens.map((token) => `/${token.replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/** An array index without leading zeros, sign or exponent; `null` when the token is none. */
const parseIndex = (token: string): number | null => (/^(0|[1-9][0-9]*)$/.test(token) ? Number(token) : null)

const child = (value: JsonValue, token: string): JsonValue | undefined => {
  if (Array.isArray(value)) return value[parseIndex(token) ?? -1]
  return isJsonObject(value) && Object.hasOwn(value, token) ? value[token] : undefined
}

/** The value a pointer leads to; `undefined` when there is none. */
export const valueAt = (data: JsonValue, tokens: Pointer): JsonValue | undefined => {
  let value: JsonValue | undefined = data
  for (const token of tokens) {
    if (value === undefined) return undefined
    value = child(value, token)
  }
  return value
}

/** Whether a value can be added there: the root, a member of an object, or a place in an array up to its end. */
export const canAddAt = (data: JsonValue, tokens: Pointer): boolean => {
  const last = tokens.at(-1)
  if (last === undefined) return true
  const parent = valueAt(data, tokens.slice(0, -1))
  if (!Array.isArray(parent)) return isJsonObject(parent)
  const index = parseIndex(last)
  return last === '-' || (index !== null && index <= parent.length)
}

/** Whether `outer` leads to something that holds what `inner` leads to. */
export const isProperPrefix = (outer: Pointer, inner: Pointer): boolean =>
  outer.length < inner.length && outer.every((token, index) => token === inner[index])
