/** What is random, drawn from fast-check: the same seed and index give the same draws, whatever was drawn for other indices. */
import fc from 'fast-check'

export interface Draws {
  of<Value>(arbitrary: fc.Arbitrary<Value>): Value
  /** Whether something happens that happens with this probability. */
  chance(probability: number): boolean
  oneOf<Value>(values: readonly Value[]): Value
  /** One of several ways to go on, by their weights. */
  weighted<Value>(...ways: readonly (readonly [weight: number, way: () => Value])[]): Value
  /** A whole number from `least` to `most`. */
  between(least: number, most: number): number
}

const FINE = 1_000_000

export const drawsFor = (seed: number, index: number): Draws => {
  // Consecutive seeds give related streams in simple generators; these do not follow each other.
  const mixed = Math.imul(seed ^ Math.imul(index + 1, 0x9e3779b1), 0x85ebca6b) | 0
  const [generate] = fc.sample(fc.gen(), { seed: mixed, numRuns: 1, unbiased: true })
  if (generate === undefined) throw new Error('nothing was drawn')
  const of = <Value>(arbitrary: fc.Arbitrary<Value>): Value => generate(() => arbitrary)
  const between = (min: number, max: number) => of(fc.integer({ min, max }))
  return {
    of,
    between,
    chance: (probability) => between(0, FINE - 1) < probability * FINE,
    oneOf: (values) => {
      const [value] = values.slice(between(0, values.length - 1))
      return value as (typeof values)[number]
    },
    weighted: (...ways) => {
      let left = between(1, FINE) / FINE
      const whole = ways.reduce((sum, [weight]) => sum + weight, 0)
      for (const [weight, way] of ways) {
        left -= weight / whole
        if (left <= 0) return way()
      }
      return (ways.at(-1)?.[1] ?? raise('no way to go on'))()
    },
  }
}

const raise = (message: string): never => {
  throw new Error(message)
}
