/** How large inputs are. What is large is looked into once, however often it is used. */

export interface Size {
  /** Of all kinds: objects, lists, and what is in them. */
  readonly values: number
  /** Of texts and keys, in UTF-16 units. */
  readonly units: number
}

const ONE: Size = { values: 1, units: 0 }

const known = new WeakMap<object, Size>()

/** What is smaller, in values, is found out again sooner than it is looked up. */
const WORTH_KNOWING = 100

/** How deep in arguments the values of variables may be; what is deeper is looked into as a whole. */
const DEPTH = 6

/** The size of a value as JSON has it. */
export const sizeOf = (value: unknown, depth = 0): Size => {
  if (typeof value === 'string') return { values: 1, units: value.length }
  if (typeof value !== 'object' || value === null) return ONE
  const found = known.get(value)
  if (found !== undefined) return found
  const size = depth < DEPTH ? sizeByParts(value, depth) : sizeAsWhole(value)
  if (size.values >= WORTH_KNOWING) known.set(value, size)
  return size
}

const sizeByParts = (outer: object, depth: number): Size => {
  let values = 1
  let units = unitsOfKeys(outer)
  for (const inner of Object.values(outer)) {
    const size = sizeOf(inner, depth + 1)
    values += size.values
    units += size.units
  }
  return { values, units }
}

/** Without a stack: it may be nested as deep as it likes. */
const sizeAsWhole = (outer: object): Size => {
  let values = 0
  let units = 0
  const waiting: unknown[] = [outer]
  while (waiting.length > 0) {
    const next = waiting.pop()
    values++
    if (typeof next === 'string') units += next.length
    if (typeof next !== 'object' || next === null) continue
    units += unitsOfKeys(next)
    for (const inner of Object.values(next)) waiting.push(inner)
  }
  return { values, units }
}

const unitsOfKeys = (value: object): number => {
  if (Array.isArray(value)) return 0
  let units = 0
  for (const key of Object.keys(value)) units += key.length
  return units
}
