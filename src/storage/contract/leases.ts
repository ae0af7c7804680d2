/** Leases: exclusive claims that lapse (domain §10). */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import { elsewhere, type Fact, scope } from './subject.js'

const LONG = 60_000

export const leaseFacts: readonly Fact[] = [
  {
    fact: 'a lease has one holder, who may renew it',
    holds: async ({ open }) => {
      const [storage, other] = [await open(), await open()]
      assert.equal(await storage.acquireLease(scope, 'k', 'a', LONG), true)
      assert.equal(await other.acquireLease(scope, 'k', 'b', LONG), false)
      assert.equal(await storage.acquireLease(scope, 'k', 'a', LONG), true)
      assert.equal(await other.acquireLease(scope, 'other key', 'b', LONG), true)
      for (const where of elsewhere) assert.equal(await other.acquireLease(where, 'k', 'b', LONG), true)
    },
  },
  {
    fact: 'a released lease is free, and nobody but its holder releases it',
    holds: async ({ open }) => {
      const storage = await open()
      await storage.acquireLease(scope, 'k', 'a', LONG)
      await storage.releaseLease(scope, 'k', 'b')
      assert.equal(await storage.acquireLease(scope, 'k', 'b', LONG), false)
      await storage.releaseLease(scope, 'k', 'a')
      assert.equal(await storage.acquireLease(scope, 'k', 'b', LONG), true)
    },
  },
  {
    fact: 'a lease that is not renewed lapses',
    holds: async ({ open }) => {
      const storage = await open()
      await storage.acquireLease(scope, 'k', 'a', 50)
      while (!(await storage.acquireLease(scope, 'k', 'b', LONG))) await pause(5)
      assert.equal(await storage.acquireLease(scope, 'k', 'a', LONG), false)
    },
  },
  {
    fact: 'a lapsed lease is found until it is taken or released, in whichever scope',
    holds: async ({ open }) => {
      const storage = await open()
      const lapsed = async () =>
        (await storage.lapsedLeases(10)).map(({ scope, key }) => [scope.workspaceId, key])
      await storage.acquireLease(scope, 'k', 'a', LONG)
      await storage.acquireLease(scope, 'short', 'a', 1)
      while ((await lapsed()).length === 0) await pause(2)
      assert.deepEqual(await lapsed(), [['w1', 'short']])
      await storage.releaseLease(scope, 'short', 'a')
      assert.deepEqual(await lapsed(), [])
    },
  },
  {
    fact: 'of many who want a lease at once one gets it',
    holds: async ({ open }) => {
      const storages = [await open(), await open()]
      const answers = await Promise.all(
        Array.from({ length: 20 }, (_, n) =>
          (storages[n % 2] ?? assert.fail()).acquireLease(scope, 'k', `holder ${n}`, LONG),
        ),
      )
      assert.equal(answers.filter(Boolean).length, 1)
    },
  },
]
