/** What zod finds, in words that read well after the path of the field they are about. */
import type { z } from 'zod'
import { ValidationFailed } from './rejections.js'

const named: { readonly [expected: string]: string } = {
  array: 'a list',
  boolean: 'true or false',
  int: 'a whole number',
  number: 'a number',
  object: 'an object',
  record: 'an object',
  string: 'text',
}

const quoted = (values: readonly unknown[]): string => values.map((value) => JSON.stringify(value)).join(', ')

const oneOf = (values: readonly unknown[]): string =>
  values.length === 1 ? `must be ${quoted(values)}` : `must be one of ${quoted(values)}`

const units: { readonly [origin: string]: string } = { string: ' characters', array: ' items' }

/** Our words for what zod finds most; for the rest, zod's own. A schema's own message always comes first. */
const words: z.core.$ZodErrorMap = (issue) => {
  switch (issue.code) {
    case 'invalid_type':
      return issue.input === undefined ? 'is required' : `must be ${named[issue.expected] ?? issue.expected}`
    case 'invalid_value':
      return issue.input === undefined ? 'is required' : oneOf(issue.values)
    case 'invalid_union':
      return 'options' in issue && Array.isArray(issue.options)
        ? oneOf(issue.options)
        : 'is of no allowed form'
    case 'too_small':
      return `must be at least ${issue.minimum}${units[issue.origin] ?? ''}`
    case 'too_big':
      return `must be at most ${issue.maximum}${units[issue.origin] ?? ''}`
    default:
      return undefined
  }
}

/** Parses with our words. @throws ValidationFailed naming each field that is wrong. */
export const parseOrRefuse = <Output>(schema: z.ZodType<Output>, value: unknown): Output => {
  const parsed = safeParse(schema, value)
  if (!parsed.success) throw ValidationFailed.fromZod(parsed.error)
  return parsed.data
}

export const safeParse = <Output>(schema: z.ZodType<Output>, value: unknown): z.ZodSafeParseResult<Output> =>
  schema.safeParse(value, { error: words })
