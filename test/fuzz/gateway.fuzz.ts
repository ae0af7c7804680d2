/** The gateway under random requests, at length: `npm run fuzz`, with FUZZ_SEED and FUZZ_REQUESTS. */
import { expect, onTestFinished, test } from 'vitest'
import { createSchema } from '../../src/graphql/schema.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import { serve } from '../support/serving.js'
import { describeStorages } from '../support/storages.js'
import { definitions, unhurriedAgent } from './agent.js'
import { firstDifference } from './differential.js'
import { expectSound, fuzz, report } from './fuzzing.js'
import { commandIdsAreTheirActorsOwn, tenantsAreIsolated, workspacesAreIsolated } from './isolated.js'

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000_000)
const requests = Number(process.env['FUZZ_REQUESTS'] ?? 20_000)

/** How many requests make it certain enough that everything is reached. */
const MANY = 20_000

const told = async <Result>(what: string, run: () => Promise<Result>): Promise<Result> => {
  const again = `FUZZ_SEED=${seed} FUZZ_REQUESTS=${requests} npm run fuzz -- -t '${expect.getState().currentTestName}'`
  console.log(again)
  const begun = performance.now()
  const result = await run()
  console.log(`${what} in ${((performance.now() - begun) / 1000).toFixed(1)} s`)
  return result
}

test('random requests, in memory', async () => {
  const run = await told(`${requests} draws`, () => fuzz(async () => new MemoryStorage(), seed, requests))
  console.log(report(run))
  expectSound(run)
  if (requests < MANY) return
  const schema = createSchema()
  expect(run.tally.onesided(schema)).toEqual([])
  expect(run.tally.unasked(schema)).toEqual([])
})

describeStorages((newSubject) => {
  const opened = async () => (await newSubject()).open()
  const few = requests / 10

  test('random requests', async () => {
    const run = await told(`${few} draws`, () => fuzz(opened, seed, few))
    console.log(report(run))
    expectSound(run)
  })

  test('the same answers as in memory', async () => {
    const memory = new MemoryStorage()
    onTestFinished(() => memory.close())
    const other = await opened()
    const difference = await told(`${few} requests to both`, () =>
      firstDifference({ memory, other }, seed, few),
    )
    expect(difference).toBe(null)
  })

  test('isolation', async () => {
    const { url, stop } = await serve({ storage: await opened(), agent: unhurriedAgent, ...definitions })
    onTestFinished(() => stop().then(() => undefined))
    const trials = { seed, runs: Math.ceil(requests / 1_000), time: 120_000 }
    await told(`${trials.runs} trials of each property`, async () => {
      await tenantsAreIsolated(url, trials)
      await workspacesAreIsolated(url, trials)
      await commandIdsAreTheirActorsOwn(url, trials)
    })
  })
})
