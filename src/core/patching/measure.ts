/** How big and how deep a value is: what bounds the work a patch can ask for. */
import { isJsonObject, type JsonValue } from '../json.js'

/** The values in a value, each counting as `weight`, plus the UTF-16 units of its text and keys. */
export const sizeOf = (value: JsonValue, weight = 1): number => {
  if (typeof value === 'string') return weight + value.length
  let size = weight
  if (Array.isArray(value)) {
    for (const item of value) size += sizeOf(item, weight)
  } else if (isJsonObject(value)) {
    for (const key of Object.keys(value)) size += key.length + sizeOf(value[key] ?? null, weight)
  }
  return size
}

/** How many arrays and objects are nested in one another: 0 for a number or a text. */
export const depthOf = (value: JsonValue): number => {
  if (typeof value !== 'object' || value === null) return 0
  let deepest = 0
  for (const item of Object.values(value)) deepest = Math.max(deepest, depthOf(item))
  return 1 + deepest
}
