/** The gateway under random requests: `npm run fuzz`, with FUZZ_SEED and FUZZ_REQUESTS. */
import { expect, onTestFinished, test } from 'vitest'
import { createSchema } from '../../src/graphql/schema.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import type { Storage } from '../../src/storage/port.js'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { openPrismaStorage } from '../../src/storage/prisma/open.js'
import { createMigratedDatabase, describePostgres } from '../support/postgres.js'
import { temporaryDirectory } from '../support/tmp.js'
import { expectSound, fuzz, report } from './fuzzing.js'

const seed = Number(process.env['FUZZ_SEED'] ?? Date.now() % 1_000_000_000)
const requests = Number(process.env['FUZZ_REQUESTS'] ?? 20_000)

/** How many requests make it certain enough that everything was reached. */
const MANY = 20_000

const fuzzed = async (name: string, open: () => Promise<Storage>, count: number): Promise<void> => {
  console.log(`${name}: FUZZ_SEED=${seed} FUZZ_REQUESTS=${requests}`)
  const begun = performance.now()
  const run = await fuzz(open, seed, count)
  const seconds = (performance.now() - begun) / 1000
  console.log(`${name}: ${count} draws, ${seconds.toFixed(1)} s\n${report(run)}`)
  expectSound(run)
  if (count < MANY) return
  expect(run.tally.onesided(createSchema())).toEqual([])
  expect(run.tally.unreached(createSchema()).filter((field) => !unreachable.test(field))).toEqual([])
}

/** What no client can bring about: another process that has a run, events of another version. */
const unreachable = /^(RunElsewhere|UnknownEvent)\./

test('in memory', () => fuzzed('in memory', async () => new MemoryStorage(), requests))

test('on SQLite', () =>
  fuzzed(
    'on SQLite',
    async () => {
      const url = `file:${temporaryDirectory()}/artifactr.db`
      await migrate(url)
      return openPrismaStorage({ url })
    },
    requests / 10,
  ))

describePostgres('', () => {
  test('on PostgreSQL', () =>
    fuzzed(
      'on PostgreSQL',
      async () => {
        const { url, drop } = await createMigratedDatabase()
        onTestFinished(drop)
        return openPrismaStorage({ url })
      },
      requests / 10,
    ))
})
