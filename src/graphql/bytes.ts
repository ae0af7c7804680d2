/** How much room values take. */

/** About how many bytes a value takes, with `perValue` for each in it besides its text: by default as JSON. A map takes those of its values. */
export const bytesOf = (value: unknown, perValue = 4): number => {
  if (typeof value === 'string') return Buffer.byteLength(value)
  let bytes = 0
  const waiting = [value]
  while (waiting.length > 0) {
    const next = waiting.pop()
    bytes += perValue
    if (typeof next === 'string') bytes += Buffer.byteLength(next)
    if (typeof next !== 'object' || next === null) continue
    if (next instanceof Map) {
      for (const item of next.values()) waiting.push(item)
      continue
    }
    for (const [key, item] of Object.entries(next)) {
      if (!Array.isArray(next)) bytes += key.length
      waiting.push(item)
    }
  }
  return bytes
}
