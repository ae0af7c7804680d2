/** How large inputs are. */

export interface Size {
  /** Of all kinds: objects, lists, and what is in them. */
  readonly values: number
  /** Of texts and keys, in UTF-16 units. */
  readonly units: number
}

const ONE: Size = { values: 1, units: 0 }

/** Of lists and objects, which are looked into once, however often they are used. */
const known = new WeakMap<object, Size>()

/** The size of a value as JSON has it. */
export const sizeOf = (value: unknown): Size => {
  if (typeof value === 'string') return { values: 1, units: value.length }
  if (typeof value !== 'object' || value === null) return ONE
  const size = known.get(value) ?? sizeWithin(value)
  known.set(value, size)
  return size
}

const sizeWithin = (outer: object): Size => {
  let values = 0
  let units = 0
  const waiting: unknown[] = [outer]
  while (waiting.length > 0) {
    const next = waiting.pop()
    const found = typeof next === 'object' && next !== null ? known.get(next) : undefined
    values += found?.values ?? 1
    units += found?.units ?? 0
    if (found !== undefined) continue
    if (typeof next === 'string') units += next.length
    else if (Array.isArray(next)) for (const item of next) waiting.push(item)
    else if (typeof next === 'object' && next !== null)
      for (const [key, item] of Object.entries(next)) {
        units += key.length
        waiting.push(item)
      }
  }
  return { values, units }
}
