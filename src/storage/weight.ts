/** How much room values take. */

/** About how many characters a value has as JSON. */
export const weigh = (value: unknown): number => {
  if (typeof value === 'string') return value.length
  if (typeof value !== 'object' || value === null) return 0
  return Object.values(value).reduce<number>((sum, part) => sum + weigh(part), 16)
}
