/** Transactions: serialised, atomic, and with a gap-free log (domain §10). */
import assert from 'node:assert/strict'
import {
  all,
  artifact,
  artifactCreated,
  elsewhere,
  envelope,
  type Fact,
  loadedOf,
  needing,
  post,
  posted,
  save,
  scope,
  seqs,
  thread,
  threadCreated,
  upTo,
  writes,
} from './subject.js'

const everything = needing({ artifacts: ['a1'], threads: ['t1'], messages: ['m1'] })

/** Loads a thread's title, counts it up and saves it: lost updates would show. */
const countUp = (storage: Parameters<typeof save>[0]) =>
  storage.transaction(scope, async (transaction) => {
    const { threads } = await transaction.load(needing({ threads: ['t1'] }))
    const next = Number(threads.get('t1')?.title ?? '0') + 1
    await transaction.save(writes({ events: [threadCreated('t1')], threads: [thread('t1', String(next))] }))
  })

export const transactionFacts: readonly Fact[] = [
  {
    fact: 'a workspace never written to is empty',
    holds: async ({ open }) => {
      const storage = await open()
      assert.equal(await storage.head(scope), 0)
      assert.deepEqual((await storage.events(scope, {}, all)).entries, [])
      assert.deepEqual((await storage.threads(scope, all)).entries, [])
      const state = loadedOf(await storage.load(scope, everything))
      assert.deepEqual(state.artifacts, { a1: null })
      assert.deepEqual(state.threads, { t1: null })
      assert.deepEqual(state.messages, { m1: false })
    },
  },
  {
    fact: 'everything saved in a transaction is there when it has ended',
    holds: async ({ open }) => {
      const storage = await open()
      const some = { artifacts: [artifact('a1')], threads: [thread('t1', 'Plans')], messages: ['m1'] }
      const envelopes = await save(storage, scope, {
        ...some,
        events: [threadCreated('t1'), artifactCreated('a1')],
      })
      assert.deepEqual(
        envelopes.map(({ seq, workspaceId }) => [seq, workspaceId]),
        [
          [1, 'w1'],
          [2, 'w1'],
        ],
      )
      const state = loadedOf(await (await open()).load(scope, everything))
      assert.deepEqual(state.artifacts, { a1: artifact('a1') })
      assert.deepEqual(state.threads, { t1: thread('t1', 'Plans') })
      assert.deepEqual(state.messages, { m1: true })
      assert.equal(await storage.head(scope), 2)
    },
  },
  {
    fact: 'a transaction loads what it saved before',
    holds: async ({ open }) => {
      const storage = await open()
      await save(storage, scope, { events: [threadCreated('t1')], threads: [thread('t1', 'old')] })
      const state = await storage.transaction(scope, async (transaction) => {
        await transaction.load(everything)
        await transaction.save(
          writes({ threads: [thread('t1', 'new')], messages: ['m1'], events: [posted('m1')] }),
        )
        return transaction.load(everything)
      })
      assert.equal(state.threads.get('t1')?.title, 'new')
      assert.equal(state.messages.get('m1'), true)
      assert.equal(state.artifacts.get('a1'), null)
    },
  },
  {
    fact: 'a load answers for every id it was asked for and for nothing else',
    holds: async ({ open }) => {
      const storage = await open()
      await save(storage, scope, { events: [threadCreated('t1')], threads: [thread('t1'), thread('t2')] })
      const wanted = needing({ threads: ['t1', 't9'], messages: ['m9'] })
      const states = [
        await storage.load(scope, wanted),
        await storage.transaction(scope, (transaction) => transaction.load(wanted)),
        await storage.transaction(
          scope,
          (transaction) => transaction.load(wanted),
          needing({ threads: ['t2'] }),
        ),
      ]
      for (const state of states) {
        assert.deepEqual(
          [...state.threads],
          [
            ['t1', thread('t1')],
            ['t9', null],
          ],
        )
        assert.deepEqual([...state.messages], [['m9', false]])
        assert.equal(state.artifacts.size + state.proposals.size + state.runs.size, 0)
      }
    },
  },
  {
    fact: 'an error rolls everything back and reaches the caller as it is',
    holds: async ({ open }) => {
      const storage = await open()
      const failure = new RangeError('no')
      const failing = storage.transaction(scope, async (transaction) => {
        await transaction.save(
          writes({
            events: [threadCreated('t1'), artifactCreated('a1')],
            threads: [thread('t1')],
            artifacts: [artifact('a1')],
            revisions: [
              {
                artifactId: 'a1',
                version: 1,
                kind: 'note',
                data: {},
                actor: { kind: 'system', name: 's' },
                archived: false,
              },
            ],
            messages: ['m1'],
          }),
        )
        throw failure
      })
      await assert.rejects(failing, (error) => error === failure)
      const state = loadedOf(await storage.load(scope, everything))
      assert.deepEqual(
        [state.artifacts, state.threads, state.messages],
        [{ a1: null }, { t1: null }, { m1: false }],
      )
      assert.equal(await storage.head(scope), 0)
      assert.deepEqual((await storage.events(scope, {}, all)).entries, [])
      assert.deepEqual((await storage.threads(scope, all)).entries, [])
      assert.deepEqual((await storage.revisions(scope, 'a1', all)).entries, [])
    },
  },
  {
    fact: 'transactions on one scope are serialised',
    holds: async ({ open }) => {
      const storage = await open()
      await Promise.all(upTo(40).map(() => countUp(storage)))
      const { threads } = await storage.load(scope, needing({ threads: ['t1'] }))
      assert.equal(threads.get('t1')?.title, '40')
    },
  },
  {
    fact: 'transactions on one scope are serialised across storages',
    holds: async ({ open }) => {
      const storages = [await open(), await open()]
      // One after the other, so that both commit on top of an earlier commit, again and again.
      for (const _ of upTo(20)) await Promise.all(storages.map(countUp))
      for (const storage of storages) {
        const { threads } = await storage.load(scope, needing({ threads: ['t1'] }))
        assert.equal(threads.get('t1')?.title, '40')
      }
    },
  },
  {
    fact: 'a transaction does not wait for one of another scope',
    holds: async ({ open }) => {
      const storage = await open()
      let release = () => {}
      const released = new Promise<void>((resolve) => {
        release = resolve
      })
      const slow = storage.transaction(scope, async (transaction) => {
        await transaction.load(everything)
        await released
        await transaction.save(writes({ events: [posted('m1')], messages: ['m1'] }))
      })
      for (const other of elsewhere) assert.equal(await post(storage, other, 'm1'), true)
      release()
      await slow
      assert.deepEqual(await seqs(storage, scope), [1])
    },
  },
  {
    fact: 'sixty-four posts at once all succeed, and their seq has no gap',
    holds: async ({ open }) => {
      const storage = await open()
      const posts = await Promise.all(upTo(64).map((n) => post(storage, scope, `m${n}`)))
      assert.ok(posts.every(Boolean))
      assert.deepEqual(await seqs(storage, scope), upTo(64))
      assert.equal(await storage.head(scope), 64)
    },
  },
  {
    fact: 'seq has no gap where some of many transactions fail',
    holds: async ({ open }) => {
      const storages = [await open(), await open()]
      const outcomes = await Promise.allSettled(
        upTo(60).map((n) =>
          (storages[n % 2] ?? assert.fail()).transaction(scope, async (transaction) => {
            await transaction.save(
              writes({ events: [posted(`m${n}`), posted(`n${n}`)], messages: [`m${n}`] }),
            )
            if (n % 3 === 0) throw new Error('refused')
          }),
        ),
      )
      assert.equal(outcomes.filter(({ status }) => status === 'fulfilled').length, 40)
      for (const storage of storages) assert.deepEqual(await seqs(storage, scope), upTo(80))
    },
  },
  {
    fact: 'several saves of one transaction follow each other in the log',
    holds: async ({ open }) => {
      const storage = await open()
      const numbers = await storage.transaction(scope, async (transaction) => {
        const first = await transaction.save(writes({ events: [posted('m1'), posted('m2')] }))
        const second = await transaction.save(writes({ events: [posted('m3')] }))
        return [...first, ...second].map(({ seq }) => seq)
      })
      assert.deepEqual(numbers, [1, 2, 3])
      assert.deepEqual(await seqs(storage, scope), [1, 2, 3])
    },
  },
  {
    fact: 'a transaction that saves nothing leaves nothing',
    holds: async ({ open }) => {
      const storage = await open()
      assert.equal(await storage.transaction(scope, async () => 'done'), 'done')
      await storage.transaction(scope, (transaction) => transaction.save(writes({})))
      assert.equal(await storage.head(scope), 0)
    },
  },
  {
    fact: 'the same ids in other scopes are other things',
    holds: async ({ open }) => {
      const storage = await open()
      const scopes = [scope, ...elsewhere]
      for (const where of scopes) {
        const title = `${where.tenantId}/${where.workspaceId}`
        await save(storage, where, { events: [threadCreated('t1')], threads: [thread('t1', title)] })
      }
      for (const where of scopes) {
        const { threads } = await storage.load(where, needing({ threads: ['t1'] }))
        assert.equal(threads.get('t1')?.title, `${where.tenantId}/${where.workspaceId}`)
        assert.equal((await storage.threads(where, all)).entries.length, 1)
        assert.deepEqual(await seqs(storage, where), [1])
      }
    },
  },
  {
    fact: 'an envelope is read back as it was saved',
    holds: async ({ open }) => {
      const storage = await open()
      const data = { camelCase: { snake_case: [1, null, {}, [], '', '\u0000 \ud800 \u{1f600}', 1e21, -1.5] } }
      const saved = await save(storage, scope, {
        events: [
          envelope(
            { type: 'app_event', name: 'app', data },
            { threadId: 't1', runId: 'r1', traceparent: '00-a-b-01' },
          ),
          envelope(
            { type: 'app_event', name: 'app' },
            { actor: { kind: 'agent', threadId: 't1', runId: 'r1', name: 'a' } },
          ),
          envelope({
            type: 'later_event',
            unknown: true,
            data: { type: 'later_event', some_field: { a: null } },
          }),
        ],
      })
      assert.deepEqual((await (await open()).events(scope, {}, all)).entries, saved)
    },
  },
]
