/** Turn positions and what agents keep (domain §11). */
import assert from 'node:assert/strict'
import type { Storage, TurnPositions } from '../port.js'
import { elsewhere, type Fact, posted, scope, upTo, writes } from './subject.js'

const advance = (storage: Storage, threadId: string, to: Partial<TurnPositions>, where = scope) =>
  storage.transaction(where, (transaction) => transaction.advance(threadId, to))

const positions = (storage: Storage, threadId: string, where = scope) =>
  storage.transaction(where, (transaction) => transaction.turnPositions(threadId))

const owed = async (storage: Storage) =>
  (await storage.owedThreads(100))
    .map(({ scope, threadId }) => [scope.tenantId, scope.workspaceId, threadId])
    .sort()

export const turnFacts: readonly Fact[] = [
  {
    fact: 'turn positions start at 0, move forward only, and each on its own',
    holds: async ({ open }) => {
      const storage = await open()
      assert.deepEqual(await positions(storage, 't1'), { asked: 0, taken: 0 })
      await advance(storage, 't1', { asked: 5 })
      await advance(storage, 't1', { taken: 3 })
      await advance(storage, 't1', { asked: 4, taken: 2 })
      assert.deepEqual(await positions(await open(), 't1'), { asked: 5, taken: 3 })
      assert.deepEqual(await positions(storage, 't2'), { asked: 0, taken: 0 })
      for (const where of elsewhere)
        assert.deepEqual(await positions(storage, 't1', where), { asked: 0, taken: 0 })
    },
  },
  {
    fact: 'a thread with more asked than taken is owed a turn, in whichever scope',
    holds: async ({ open }) => {
      const storage = await open()
      assert.deepEqual(await owed(storage), [])
      for (const where of [scope, ...elsewhere]) await advance(storage, 't1', { asked: 2 }, where)
      await advance(storage, 't2', { asked: 7, taken: 7 })
      assert.deepEqual(await owed(await open()), [
        ['acme', 'w1', 't1'],
        ['acme', 'w2', 't1'],
        ['umbrella', 'w1', 't1'],
      ])
      assert.equal((await storage.owedThreads(2)).length, 2)
      for (const where of elsewhere) await advance(storage, 't1', { taken: 2 }, where)
      assert.deepEqual(await owed(storage), [['acme', 'w1', 't1']])
    },
  },
  {
    fact: 'positions are written with everything else of their transaction, or not at all',
    holds: async ({ open }) => {
      const storage = await open()
      const failure = new Error('no')
      const failing = storage.transaction(scope, async (transaction) => {
        const [envelope] = await transaction.save(writes({ events: [posted('m1')] }))
        await transaction.advance('t1', { asked: envelope?.seq ?? assert.fail() })
        assert.deepEqual(await transaction.turnPositions('t1'), { asked: 1, taken: 0 })
        throw failure
      })
      await assert.rejects(failing, failure)
      assert.deepEqual(await positions(storage, 't1'), { asked: 0, taken: 0 })
      assert.deepEqual(await owed(storage), [])
    },
  },
  {
    fact: 'of many who take the same message at once through two storages one does',
    holds: async ({ open }) => {
      const storages = [await open(), await open()]
      await advance(storages[0] ?? assert.fail(), 't1', { asked: 1 })
      const taken = await Promise.all(
        upTo(20).map((n) =>
          (storages[n % 2] ?? assert.fail()).transaction(scope, async (transaction) => {
            const { taken } = await transaction.turnPositions('t1')
            if (taken > 0) return false
            await transaction.advance('t1', { taken: 1 })
            return true
          }),
        ),
      )
      assert.equal(taken.filter(Boolean).length, 1)
    },
  },
  {
    fact: 'what an agent keeps of a thread is replaced as a whole and read back byte for byte',
    holds: async ({ open }) => {
      const storage = await open()
      const bytes = Uint8Array.from({ length: 256 }, (_, n) => n)
      assert.equal(await storage.history(scope, 't1'), null)
      for (const history of [new Uint8Array([1]), bytes]) {
        await storage.transaction(scope, (transaction) => transaction.keepHistory('t1', history))
      }
      assert.deepEqual([...((await (await open()).history(scope, 't1')) ?? [])], [...bytes])
      assert.equal(await storage.history(scope, 't2'), null)
      for (const where of elsewhere) assert.equal(await storage.history(where, 't1'), null)
      await storage.transaction(scope, (transaction) => transaction.keepHistory('t1', new Uint8Array()))
      assert.equal((await storage.history(scope, 't1'))?.length, 0)
    },
  },
]
