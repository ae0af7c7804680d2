/** The gateway under random requests: `npm run fuzz`, with FUZZ_SEED and FUZZ_REQUESTS. */
import { expect, test } from 'vitest'
import { createSchema } from '../../src/graphql/schema.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import { expectSound, type Fuzzed, fuzz, report } from './fuzzing.js'

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000_000)
const requests = Number(process.env['FUZZ_REQUESTS'] ?? 20_000)

/** Says what a run came to, and how it is run again. */
const told = async (name: string, count: number, run: () => Promise<Fuzzed>): Promise<Fuzzed> => {
  const begun = performance.now()
  console.log(`${name}: FUZZ_SEED=${seed} FUZZ_REQUESTS=${requests}`)
  const fuzzed = await run()
  console.log(`${name}: ${count} asked for\n${report(fuzzed)}\n${((performance.now() - begun) / 1000).toFixed(1)} s`)
  return fuzzed
}

test('in memory', async () => {
  const fuzzed = await told('in memory', requests, () => fuzz(new MemoryStorage(), seed, requests))
  expectSound(fuzzed)
  if (requests < 20_000) return
  expect(fuzzed.tally.onesided(createSchema())).toEqual([])
})
