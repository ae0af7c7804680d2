/**
 * The JSON Patch that leads from one value to another. It takes time in proportion to their size: the libraries' diffs compare arrays item by
 * item with item, which a list of a few thousand items does not survive.
 */
import { isJsonObject, type JsonObject, type JsonValue } from '../json.js'
import { formatPointer, type Pointer } from './pointer.js'

/** The operations that turn `before` into `after`, to the order of their keys. None when they are the same. */
export const diff = (before: JsonValue, after: JsonValue): JsonObject[] => changes(before, after, [])

const changes = (before: JsonValue, after: JsonValue, at: Pointer): JsonObject[] => {
  if (Array.isArray(before) && Array.isArray(after)) return arrayChanges(before, after, at)
  if (isJsonObject(before) && isJsonObject(after) && keepsOrder(before, after)) {
    return objectChanges(before, after, at)
  }
  return same(before, after) ? [] : [{ op: 'replace', path: formatPointer(at), value: after }]
}

/** Equal to the order of keys. */
const same = (before: JsonValue, after: JsonValue): boolean =>
  JSON.stringify(before) === JSON.stringify(after)

/** Whether removing and adding members leads to the keys of `after` in their order: those kept come first, in the order they had. */
const keepsOrder = (before: JsonObject, after: JsonObject): boolean => {
  const kept = Object.keys(before).filter((key) => Object.hasOwn(after, key))
  const added = Object.keys(after).filter((key) => !Object.hasOwn(before, key))
  const order = Object.keys(Object.fromEntries([...kept, ...added].map((key) => [key, null])))
  return Object.keys(after).every((key, index) => key === order[index])
}

const objectChanges = (before: JsonObject, after: JsonObject, at: Pointer): JsonObject[] => [
  ...Object.keys(before)
    .filter((key) => !Object.hasOwn(after, key))
    .map((key) => ({ op: 'remove', path: formatPointer([...at, key]) })),
  ...Object.entries(after).flatMap(([key, value]): JsonObject[] => {
    const earlier = Object.hasOwn(before, key) ? before[key] : undefined
    return earlier === undefined
      ? [{ op: 'add', path: formatPointer([...at, key]), value }]
      : changes(earlier, value, [...at, key])
  }),
]

/** What both ends share stays; between, items are paired in order, and what is left over is removed or added. */
const arrayChanges = (before: JsonValue[], after: JsonValue[], at: Pointer): JsonObject[] => {
  const head = sharedLength(before, after)
  const tail = sharedLength(before.slice(head).reverse(), after.slice(head).reverse())
  const removed = before.slice(head, before.length - tail)
  const added = after.slice(head, after.length - tail)
  const paired = Math.min(removed.length, added.length)
  const pointer = (index: number) => [...at, String(head + index)]
  return [
    ...removed.slice(0, paired).flatMap((item, index) => changes(item, added[index] ?? null, pointer(index))),
    ...removed.slice(paired).map(() => ({ op: 'remove', path: formatPointer(pointer(paired)) })),
    ...added.slice(paired).map((value, index) => ({
      op: 'add',
      path: formatPointer(pointer(paired + index)),
      value,
    })),
  ]
}

/** How many items two lists share from their start. */
const sharedLength = (a: JsonValue[], b: JsonValue[]): number => {
  const shorter = Math.min(a.length, b.length)
  const differs = a.slice(0, shorter).findIndex((item, index) => !same(item, b[index] ?? null))
  return differs === -1 ? shorter : differs
}
