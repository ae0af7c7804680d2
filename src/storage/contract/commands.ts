/** What is remembered of accepted commands, so that a repeat gets the first answer (domain §7). */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { CommandKey, Storage } from '../port.js'
import { elsewhere, type Fact, needing, posted, scope, seqs, upTo, writes } from './subject.js'

const key: CommandKey = { participant: 'user:ada', commandId: 'c1' }
const others: readonly CommandKey[] = [
  { participant: 'user:ada', commandId: 'C1' },
  { participant: 'user:bob', commandId: 'c1' },
  { participant: 'user', commandId: 'ada:c1' },
]

const remember = (storage: Storage, of: CommandKey, result: string, where = scope) =>
  storage.transaction(where, (transaction) => transaction.remember(of, result))

const recall = (storage: Storage, of: CommandKey, where = scope) =>
  storage.transaction(where, (transaction) => transaction.recall(of))

/** Carries a command out once: its first result is its result from then on. */
const once = (storage: Storage, result: string) =>
  storage.transaction(
    scope,
    async (transaction) => {
      const first = await transaction.recall(key)
      if (first !== null) return first
      await transaction.save(writes({ events: [posted('m1')] }))
      await transaction.remember(key, result)
      return result
    },
    { ...needing({}), commands: [key] },
  )

export const commandFacts: readonly Fact[] = [
  {
    fact: 'what is remembered of a command is recalled by its participant and id, in its scope',
    holds: async ({ open }) => {
      const storage = await open()
      assert.equal(await recall(storage, key), null)
      await remember(storage, key, '{"a":"\\u0000 \u{1f600}"}')
      assert.equal(await recall(await open(), key), '{"a":"\\u0000 \u{1f600}"}')
      for (const other of others) assert.equal(await recall(storage, other), null)
      for (const where of elsewhere) assert.equal(await recall(storage, key, where), null)
    },
  },
  {
    fact: 'a transaction recalls what it remembered before, and a rollback forgets it',
    holds: async ({ open }) => {
      const storage = await open()
      const failure = new Error('no')
      const failing = storage.transaction(scope, async (transaction) => {
        await transaction.remember(key, 'result')
        assert.equal(await transaction.recall(key), 'result')
        throw failure
      })
      await assert.rejects(failing, failure)
      assert.equal(await recall(storage, key), null)
    },
  },
  {
    fact: 'of many identical commands at once through two storages one is carried out, and all get its result',
    holds: async ({ open }) => {
      const storages = [await open(), await open()]
      const results = await Promise.all(
        upTo(20).map((n) => once(storages[n % 2] ?? assert.fail(), `result ${n}`)),
      )
      assert.equal(new Set(results).size, 1)
      assert.deepEqual(await seqs(storages[0] ?? assert.fail(), scope), [1])
    },
  },
  {
    fact: 'a command that appended nothing is remembered once as well',
    holds: async ({ open }) => {
      const storages = [await open(), await open()]
      const results = await Promise.all(
        upTo(20).map((n) =>
          (storages[n % 2] ?? assert.fail()).transaction(scope, async (transaction) => {
            const first = await transaction.recall(key)
            if (first === null) await transaction.remember(key, `result ${n}`)
            return first ?? `result ${n}`
          }),
        ),
      )
      assert.equal(new Set(results).size, 1)
    },
  },
  {
    fact: 'commands are forgotten by their age, in their scope',
    holds: async ({ open }) => {
      const storage = await open()
      await remember(storage, key, 'result')
      for (const where of elsewhere) await remember(storage, key, 'result', where)
      assert.equal(await storage.forgetCommands(scope, 60_000), 0)
      assert.equal(await recall(storage, key), 'result')
      while ((await storage.forgetCommands(scope, 1)) === 0) await pause(2)
      assert.equal(await recall(storage, key), null)
      for (const where of elsewhere) assert.equal(await recall(storage, key, where), 'result')
    },
  },
]
