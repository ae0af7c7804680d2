/** How much one round of group commit takes on, on both databases. */
import { describe, expect, test } from 'vitest'
import { needing, posted, save, scope, upTo, writes } from '../../src/storage/contract/subject.js'
import { openLane, type Provider, postgresql, sqlite } from '../support/lanes.js'
import { describePostgres } from '../support/postgres.js'

const factsOf = (provider: Provider): void => {
  test('a round looks up so many entities, and no more', async () => {
    const { storage, commits } = await openLane(provider, await provider.create())
    const saveWith = (artifacts: string[], n: number) =>
      storage.transaction(
        scope,
        async (transaction) => {
          await transaction.load(needing({ artifacts }))
          await transaction.save(writes({ events: [posted(`m${n}`)], messages: [`m${n}`] }))
        },
        needing({ artifacts }),
      )
    const hundred = (owner: string) => upTo(100).map((n) => `${owner}${n}`)
    await Promise.all(upTo(3).map((n) => saveWith(hundred(`of${n}-`), n)))
    expect(commits.map(({ staging }) => staging.events.length)).toEqual([1, 1, 1])
    commits.length = 0
    await Promise.all(upTo(3).map((n) => saveWith(hundred('shared'), 3 + n)))
    expect(commits.map(({ staging }) => staging.events.length)).toEqual([3])
  })

  test('large writes are not all put in one batch', async () => {
    const { storage, commits } = await openLane(provider, await provider.create(), { patience: 25_000 })
    const content = 'x'.repeat(1024 * 1024)
    const saves = upTo(24).map((n) => {
      const envelope = posted(`m${n}`)
      const large = { ...envelope, event: { ...envelope.event, content } }
      return save(storage, scope, { events: [large], messages: [`m${n}`] })
    })
    const seqs = (await Promise.all(saves)).flatMap((envelopes) => envelopes.map(({ seq }) => seq))
    expect(seqs).toEqual(upTo(24))
    expect(await storage.head(scope)).toBe(24)
    const sizes = commits.map(({ staging }) => staging.events.length)
    expect(Math.max(...sizes)).toBeGreaterThan(1)
    expect(Math.max(...sizes)).toBeLessThan(6)
  })

  test('what a round has no room for is not looked up again in each that follows', async () => {
    const COUNT = 40
    const { storage, lookUps } = await openLane(provider, await provider.create(), { patience: 40_000 })
    const content = 'x'.repeat(1024 * 1024)
    const saves = upTo(COUNT).map((n) => {
      const envelope = posted(`m${n}`)
      const large = { ...envelope, event: { ...envelope.event, content } }
      return storage.transaction(
        scope,
        (transaction) => transaction.save(writes({ events: [large], messages: [`m${n}`] })),
        needing({ artifacts: [`a${n}`] }),
      )
    })
    await Promise.all(saves)
    const all = lookUps.reduce((total, count) => total + count, 0)
    // All of them once, and then at most twice as many as were written.
    expect(all).toBeLessThanOrEqual(COUNT + 2 * COUNT)
  })
}

describe('on SQLite', () => factsOf(sqlite))
describePostgres('on PostgreSQL', () => factsOf(postgresql))
