/** JSON Schemas of the application's types, for clients and models (`artifactTypes`, `feedbackTypes`). */
import { z } from 'zod'
import type { JsonObject } from './json.js'

/**
 * What a client may send: what has a default is optional, and a key that is not listed is refused, as `conform` does. What JSON Schema cannot
 * say, such as a refinement of the application's, is left out.
 */
export const jsonSchemaOf = (schema: z.ZodType): JsonObject =>
  JSON.parse(
    JSON.stringify(
      z.toJSONSchema(schema, {
        io: 'input',
        unrepresentable: 'any',
        override: ({ zodSchema, jsonSchema }) => {
          const { def } = zodSchema._zod
          if (def.type === 'object' && !('catchall' in def)) jsonSchema.additionalProperties = false
        },
      }),
    ),
  )
