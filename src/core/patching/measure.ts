/** How big and how deep a value is: what bounds the work a patch can ask for. */
import { isJsonObject, type JsonValue } from '../json.js'

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

/** The values in a value, plus the UTF-16 units of its text and keys. */
export const sizeOf = (value: JsonValue): number => {
  if (typeof value === 'string') return 1 + value.length
  if (Array.isArray(value)) return 1 + sum(value.map(sizeOf))
  if (!isJsonObject(value)) return 1
  return 1 + sum(Object.entries(value).map(([key, item]) => key.length + sizeOf(item)))
}

/** How many arrays and objects are nested in one another: 0 for a number or a text. */
export const depthOf = (value: JsonValue): number => {
  if (typeof value !== 'object' || value === null) return 0
  return 1 + Object.values(value).reduce<number>((deepest, item) => Math.max(deepest, depthOf(item)), 0)
}
