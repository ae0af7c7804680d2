/** Feedback types are the application's (domain §5): who judges what, and how. */
import type { z } from 'zod'
import { conform } from './conform.js'
import { definedName } from './defined-name.js'
import type { FeedbackTarget } from './events.js'
import type { JsonObject, JsonValue } from './json.js'
import { jsonSchemaOf } from './json-schema.js'

export type FeedbackTargetKind = FeedbackTarget['type']

export interface FeedbackType {
  readonly name: string
  /** The kinds of target it may be given on. */
  readonly targets: readonly FeedbackTargetKind[]
  readonly jsonSchema: JsonObject
  /** The value as it is stored. @throws ValidationFailed `invalid <name> value`, its issues under `value`. */
  readonly parse: (value: JsonValue) => JsonValue
}

export interface FeedbackDefinition {
  /** The type's name, such as `helpfulness`. */
  readonly name: string
  readonly targets: readonly FeedbackTargetKind[]
  /** The shape of the value; as strict as an artifact's. */
  readonly schema: z.ZodType
}

/** Defines a feedback type. */
export const defineFeedback = ({ name, targets, schema }: FeedbackDefinition): FeedbackType => ({
  name: definedName('feedback', name),
  targets,
  jsonSchema: jsonSchemaOf(schema),
  parse: (value) => conform(schema, value, `${name} value`, 'value'),
})
