/** Artifact types are the application's (domain §5). Core keeps the rules that all of them share. */
import { z } from 'zod'
import { conform } from './conform.js'
import { definedName } from './defined-name.js'
import { isJsonObject, type JsonObject, type JsonValue } from './json.js'
import { jsonSchemaOf } from './json-schema.js'
import { textSchema } from './text.js'

/** Whether an agent's changes apply directly, or become proposals for someone else to decide. */
export type WritePolicy = 'direct' | 'propose'

/** An artifact type, whatever the shape of its data. */
export interface ArtifactType {
  readonly kind: string
  readonly writePolicy: WritePolicy
  readonly jsonSchema: JsonObject
  /** The data as it is stored. @throws ValidationFailed `invalid <kind> data`, its issues under `data`. */
  readonly parse: (data: JsonValue) => JsonValue
  /** The type's own words for a change; `null` when it has none, or when the data was stored under another schema. */
  readonly describeChange: (before: JsonValue, after: JsonValue) => string | null
  /** What an agent reads. Data that was stored under another schema is shown as JSON. */
  readonly renderForAgent: (data: JsonValue) => string
}

export interface ArtifactDefinition<Schema extends z.ZodType> {
  /** The type's name, such as `note`. */
  readonly kind: string
  /**
   * The shape of the data: synchronous, and JSON in as out. Keys it does not know are refused at every level, unless an object is `z.looseObject`.
   * It may fill in defaults and normalise values; it is applied again to what it gave, so it has to leave that as it is.
   * It makes new values and changes none that it is given.
   */
  readonly schema: Schema
  /** `direct` when left out. */
  readonly writePolicy?: WritePolicy
  /** A few words for a change, such as `completed Ship v1`; an empty text leaves it to the general description. */
  readonly describeChange?: (before: z.output<Schema>, after: z.output<Schema>) => string
  /** What an agent reads; indented JSON when left out. */
  readonly renderForAgent?: (data: z.output<Schema>) => string
}

/** Defines an artifact type. */
export const defineArtifact = <Schema extends z.ZodType>({
  kind,
  schema,
  writePolicy = 'direct',
  describeChange,
  renderForAgent,
}: ArtifactDefinition<Schema>): ArtifactType => ({
  kind: definedName('artifact', kind),
  writePolicy,
  jsonSchema: jsonSchemaOf(schema),
  parse: (data) => conform(schema, data, `${kind} data`, 'data'),
  describeChange: (before, after) => {
    if (describeChange === undefined) return null
    const [earlier, later] = [schema.safeParse(before), schema.safeParse(after)]
    return (earlier.success && later.success && describeChange(earlier.data, later.data)) || null
  },
  renderForAgent: (data) => {
    const { success, data: known } = schema.safeParse(data)
    return success && renderForAgent ? renderForAgent(known) : asJson(data)
  },
})

/** The Markdown of a text artifact: empty until it is written. */
const markdown = textSchema.default('').meta({ contentMediaType: 'text/markdown' })

type TextSchema<Fields extends z.ZodRawShape> = z.ZodObject<Fields & { text: typeof markdown }>

export interface TextArtifactDefinition<Fields extends z.ZodRawShape>
  extends Omit<ArtifactDefinition<TextSchema<Fields>>, 'schema'> {
  /** What the data has besides its `text`. */
  readonly fields: Fields
}

/** Defines an artifact type whose data is Markdown, in a field named `text`, with some fields about it. Agents read the text. */
export const defineTextArtifact = <Fields extends z.ZodRawShape>({
  fields,
  ...definition
}: TextArtifactDefinition<Fields>): ArtifactType => {
  const schema: TextSchema<Fields> = z.object({ ...fields, text: markdown })
  const type = defineArtifact<TextSchema<Fields>>({ ...definition, schema })
  return definition.renderForAgent === undefined ? { ...type, renderForAgent: textOf } : type
}

const textOf = (data: JsonValue): string =>
  isJsonObject(data) && typeof data['text'] === 'string' ? data['text'] : asJson(data)

const asJson = (data: JsonValue): string => JSON.stringify(data, null, 2)
