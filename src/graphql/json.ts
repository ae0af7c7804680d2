/** JSON values in answers. */
import type { JsonValue } from '../core/json.js'

/** JSON null in a field that GraphQL may not leave empty: an object that the response writes as `null`. */
export class JsonNull {
  toJSON(): null {
    return null
  }
}

const jsonNull = new JsonNull()

/** The value of a field of type `JSON!`, where JSON null is as good as any other value. */
export const jsonOf = (value: JsonValue): NonNullable<JsonValue> | JsonNull => value ?? jsonNull
