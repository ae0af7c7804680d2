/** Checking data of the application's against the schema it defined: artifact data, feedback values. */
import type { z } from 'zod'
import { safeParse } from './issues.js'
import {
  isJsonObject,
  isPlain,
  type JsonObject,
  type JsonValue,
  jsonInputSchema,
  jsonProblem,
  tooManyValues,
} from './json.js'
import { issuesOf, ValidationFailed, type ValidationIssue } from './rejections.js'

/**
 * The value as it is stored: validated, with defaults filled in, its keys in the order they were given in. What the schema would drop is refused
 * as unknown, at every level, so a plain `z.object` is as strict as `z.strictObject`; a `z.looseObject` keeps what it does not know.
 *
 * @param what - What the message names: `note data`.
 * @param under - Where the value is in its command: the first element of each issue's path.
 * @throws ValidationFailed; TypeError when the schema makes something of the value that is no JSON.
 */
export const conform = (schema: z.ZodType, value: JsonValue, what: string, under: string): JsonValue => {
  const refusal = (issues: readonly ValidationIssue[]): ValidationFailed =>
    new ValidationFailed(
      `invalid ${what}`,
      issues.map(({ path, message }) => ({ path: [under, ...path], message })),
    )
  const problem = jsonProblem(value)
  if (problem !== null) throw refusal([problem])
  const parsed = safeParse(schema, value)
  if (!parsed.success) throw refusal(issuesOf(parsed.error))
  if (isUnchanged(value, parsed.data)) return value
  const output = jsonInputSchema.safeParse(parsed.data)
  if (!output.success) {
    if (jsonProblem(parsed.data) === tooManyValues) throw refusal([tooManyValues])
    throw new TypeError(`the schema of ${what} yields no JSON: ${output.error.message}`)
  }
  const dropped = droppedKeys(value, output.data)
  if (dropped.length > 0) throw refusal(dropped.map((path) => ({ path, message: 'is not known' })))
  return inOrderOf(value, output.data)
}

/** Whether the schema left a value as it was, but for the order of its keys. Then there is nothing else to look at. */
const isUnchanged = (input: JsonValue, output: unknown): boolean => {
  if (typeof input !== 'object' || input === null) return Object.is(input, output) && !Object.is(input, -0)
  if (typeof output !== 'object' || output === null) return false
  return Array.isArray(input) || Array.isArray(output)
    ? hasItems(output, input)
    : isPlain(output) && hasMembers(output, input)
}

const hasItems = (output: object, items: object): boolean =>
  Array.isArray(items) &&
  Array.isArray(output) &&
  items.length === output.length &&
  items.every((item, index) => isUnchanged(item, output[index]))

/** A member that is `undefined` is none in what is stored, so that it has to be taken out. */
const hasMembers = (output: { readonly [key: string]: unknown }, members: JsonObject): boolean => {
  const keys = Object.keys(members)
  return (
    keys.length === Object.keys(output).length &&
    keys.every((key) => {
      const member = members[key]
      return member !== undefined && Object.hasOwn(output, key) && isUnchanged(member, output[key])
    })
  )
}

/** The paths of the keys that the schema leaves out. A list whose length it changes is its own affair. */
const droppedKeys = (input: JsonValue, output: JsonValue): (readonly string[])[] => {
  const dropped: (readonly string[])[] = []
  const look = (key: string, item: JsonValue, kept: JsonValue): void => {
    for (const path of droppedKeys(item, kept)) dropped.push([key, ...path])
  }
  if (isJsonObject(input) && isJsonObject(output)) {
    for (const key of Object.keys(input)) {
      const kept = Object.hasOwn(output, key) ? output[key] : undefined
      if (kept === undefined) dropped.push([key])
      else look(key, input[key] ?? null, kept)
    }
  } else {
    for (const [index, [item, kept]] of pairs(input, output).entries()) look(String(index), item, kept)
  }
  return dropped
}

/** The output with its keys in the order of the input; what the schema added follows. */
const inOrderOf = (input: JsonValue, output: JsonValue): JsonValue => {
  if (!isJsonObject(input) || !isJsonObject(output)) {
    const items = pairs(input, output)
    return items.length > 0 ? items.map(([item, kept]) => inOrderOf(item, kept)) : output
  }
  const ordered: JsonObject = {}
  for (const key of Object.keys(input)) ordered[key] = inOrderOf(input[key] ?? null, output[key] ?? null)
  for (const key of Object.keys(output)) {
    if (!Object.hasOwn(input, key)) ordered[key] = output[key] ?? null
  }
  return ordered
}

/** Item by item, two lists of one length; nothing else has pairs. */
const pairs = (input: JsonValue, output: JsonValue): (readonly [JsonValue, JsonValue])[] =>
  Array.isArray(input) && Array.isArray(output) && input.length === output.length
    ? input.map((item, index) => [item, output[index] ?? null] as const)
    : []
