/** Subscriptions: the log from any position on, once each, in order, whoever commits (domain §10). */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Envelope, Seq } from '../../core/envelopes.js'
import { type Scope, type Storage, StorageUnavailable } from '../port.js'
import {
  artifactCreated,
  elsewhere,
  envelope,
  type Fact,
  post,
  posted,
  save,
  scope,
  upTo,
} from './subject.js'
import { follow } from './subscriber.js'

const range = (first: number, last: number): number[] => upTo(last).slice(first - 1)

const postMany = async (storage: Storage, where: Scope, prefix: string, count: number): Promise<void> => {
  for (const n of upTo(count)) await post(storage, where, `${prefix}${n}`)
}

const say = (storage: Storage, where: Scope, content: string) => {
  const event = { type: 'message_posted', threadId: 't1', messageId: 'm1', content, kind: 'message' } as const
  return save(storage, where, { events: [envelope(event, { threadId: 't1' })] })
}

const id255 = (character: string): string =>
  character.repeat(Math.floor(255 / new TextEncoder().encode(character).length))

export const followFacts: readonly Fact[] = [
  {
    fact: 'a subscription gives what is stored after its position, then what is committed, on one iterator',
    holds: async ({ open }) => {
      const storage = await open()
      await postMany(storage, scope, 'm', 3)
      const some = follow(storage, scope, 1)
      await some.come(3)
      await postMany(storage, scope, 'n', 2)
      await some.come(5)
      assert.deepEqual(some.seqs, range(2, 5))
      await some.stop()
    },
  },
  {
    fact: 'a subscription gives envelopes as they are read',
    holds: async ({ open }) => {
      const storage = await open()
      await postMany(storage, scope, 'm', 2)
      const subscriber = follow(storage, scope, 0)
      await subscriber.come(2)
      await save(storage, scope, { events: [artifactCreated('a1')] })
      const envelopes = await subscriber.come(3)
      assert.deepEqual(envelopes, (await storage.events(scope, {}, { limit: 10, from: 'start' })).entries)
      await subscriber.stop()
    },
  },
  {
    fact: 'a subscription is told of what another storage commits',
    holds: async ({ open }) => {
      const [mine, other] = [await open(), await open()]
      const subscriber = follow(mine, scope, 0)
      await post(other, scope, 'm1')
      await subscriber.come(1)
      await post(other, scope, 'm2')
      await subscriber.come(2)
      assert.deepEqual(subscriber.seqs, [1, 2])
      await subscriber.stop()
    },
  },
  {
    fact: 'subscribers that join at any moment while two storages commit miss nothing and get nothing twice',
    holds: async ({ open }) => {
      const storages = [await open(), await open()]
      const writing = Promise.all(
        storages.flatMap((storage, n) => [
          postMany(storage, scope, `a${n}-`, 50),
          postMany(storage, scope, `b${n}-`, 50),
        ]),
      )
      const subscribers: { from: Seq; some: ReturnType<typeof follow> }[] = []
      for (const n of upTo(24)) {
        const storage = storages[n % 2] ?? assert.fail()
        const from = n % 3 === 0 ? await storage.head(scope) : 0
        subscribers.push({ from, some: follow(storage, scope, from) })
        await pause(Math.random() * 8)
      }
      await writing
      for (const { from, some } of subscribers) {
        await some.come(200)
        assert.deepEqual(some.seqs, range(from + 1, 200))
        await some.stop()
      }
    },
  },
  {
    fact: 'a subscriber that reads late gets everything, however much was committed meanwhile',
    holds: async ({ open }) => {
      const storage = await open()
      const stretches = storage.subscribe(scope, 0)[Symbol.asyncIterator]()
      await post(storage, scope, 'm1')
      assert.equal((await stretches.next()).value?.upTo, 1)
      for (const n of upTo(30))
        await save(storage, scope, { events: upTo(50).map((m) => posted(`${n}-${m}`)) })
      const seqs: Seq[] = []
      while (seqs.length < 1_500) {
        const { value } = await stretches.next()
        seqs.push(...(value?.envelopes ?? assert.fail()).map(({ seq }: Envelope) => seq))
      }
      assert.deepEqual(seqs, range(2, 1_501))
      await stretches.return?.()
    },
  },
  {
    fact: 'a subscriber that follows threads gets what reaches them, and is told how far the log was looked at',
    holds: async ({ open }) => {
      const storage = await open()
      const events = () => [posted('m1', 't1'), posted('m2', 't2'), artifactCreated('a1'), posted('m3', 't3')]
      await save(storage, scope, { events: events() })
      const some = follow(storage, scope, 0, { following: ['t1', 't3'] })
      const none = follow(storage, scope, 0, { following: ['t9'] })
      await some.come(4)
      await none.come(4)
      await save(storage, scope, { events: events() })
      await some.come(8)
      await none.come(8)
      assert.deepEqual(some.seqs, [1, 3, 4, 5, 7, 8])
      assert.deepEqual(none.seqs, [3, 7])
      await some.stop()
      await none.stop()
    },
  },
  {
    fact: 'a subscription to one scope is told of no other',
    holds: async ({ open }) => {
      const storage = await open()
      const mine = follow(storage, scope, 0)
      await post(storage, scope, 'm1')
      await mine.come(1)
      for (const other of elsewhere) await postMany(storage, other, 'm', 3)
      await post(storage, scope, 'm2')
      const envelopes = await mine.come(2)
      assert.deepEqual(envelopes, (await storage.events(scope, {}, { limit: 10, from: 'start' })).entries)
      await mine.stop()
    },
  },
  {
    fact: 'scopes with the longest ids are told of like any other',
    holds: async ({ open }) => {
      const [mine, other] = [await open(), await open()]
      for (const character of ['x', '"', '\\', '€', '\u{1f600}']) {
        const where = { tenantId: id255(character), workspaceId: id255(character) }
        const subscriber = follow(mine, where, 0)
        await post(other, where, 'm1')
        await subscriber.come(1)
        await subscriber.stop()
      }
    },
  },
  {
    fact: 'however large an event is, it arrives, and so does what comes after it',
    holds: async ({ open }) => {
      const [mine, other] = [await open(), await open()]
      const subscriber = follow(mine, scope, 0)
      const contents = ['x'.repeat(20_000), '€'.repeat(65_536), 'y'.repeat(1_000_000), 'short']
      for (const [index, content] of contents.entries()) {
        await say(other, scope, content)
        const { event } = (await subscriber.come(index + 1)).at(-1) ?? assert.fail()
        assert.ok('content' in event && event.content === content)
      }
      await subscriber.stop()
    },
  },
  {
    fact: 'a position that the log has not come to is waited for',
    holds: async ({ open }) => {
      const storage = await open()
      const subscriber = follow(storage, scope, 3)
      await postMany(storage, scope, 'm', 5)
      await subscriber.come(5)
      assert.deepEqual(subscriber.seqs, [4, 5])
      await subscriber.stop()
    },
  },
  {
    fact: 'a subscription ends when its signal says so, and when nobody reads on',
    holds: async ({ open }) => {
      const storage = await open()
      await post(storage, scope, 'm1')
      const waiting = follow(storage, scope, 1)
      await waiting.stop()
      const aborted = follow(storage, scope, 0, {})
      await aborted.come(1)
      await aborted.stop()
      for await (const stretch of storage.subscribe(scope, 0)) {
        assert.equal(stretch.upTo, 1)
        break
      }
      const never = storage.subscribe(scope, 0, { signal: AbortSignal.abort() })[Symbol.asyncIterator]()
      assert.equal((await never.next()).done, true)
    },
  },
  {
    fact: 'a storage that is closed ends its subscriptions, and takes no others',
    holds: async ({ open }) => {
      const storage = await open()
      const waiting = follow(storage, scope, 0)
      await post(storage, scope, 'm1')
      await waiting.come(1)
      await storage.close()
      await assert.rejects(waiting.ended, StorageUnavailable)
      await assert.rejects(follow(storage, scope, 0).ended, StorageUnavailable)
    },
  },
  {
    fact: 'an event of a type that is not known passes as it is stored',
    holds: async ({ open, rewriteEvent }) => {
      const storage = await open()
      const [first] = await save(storage, scope, { events: [posted('m1'), posted('m2')] })
      const header = { seq: 1, id: first?.id, ts: first?.ts, workspace_id: 'w1', actor: first?.actor }
      const event = { type: 'from_the_future', some_value: { a: [1] } }
      await rewriteEvent(scope, 1, JSON.stringify({ ...header, event }))
      const subscriber = follow(storage, scope, 0)
      const [unknown] = await subscriber.come(2)
      assert.deepEqual(unknown?.event, { type: 'from_the_future', unknown: true, data: event })
      assert.deepEqual(subscriber.seqs, [1, 2])
      await subscriber.stop()
    },
  },
  {
    fact: 'an event whose stored form is broken keeps its place, and what comes after it arrives',
    holds: async ({ open, rewriteEvent }) => {
      const storage = await open()
      await postMany(storage, scope, 'm', 4)
      await rewriteEvent(scope, 2, '{"seq": 2, "event": {"type"')
      await rewriteEvent(scope, 3, '{"seq": 3, "event": {"type": "message_posted"}}')
      const subscriber = follow(storage, scope, 0)
      await subscriber.come(4)
      await post(storage, scope, 'm5')
      const envelopes = await subscriber.come(5)
      assert.deepEqual(subscriber.seqs, upTo(5))
      assert.deepEqual(envelopes[1]?.event, {
        type: 'unreadable',
        unknown: true,
        data: '{"seq": 2, "event": {"type"',
      })
      assert.equal(envelopes[2]?.event.type, 'unreadable')
      assert.deepEqual((await storage.events(scope, {}, { limit: 10, from: 'start' })).entries, envelopes)
      await subscriber.stop()
    },
  },
  {
    fact: 'a log that has become shorter ends the subscriptions that were further',
    holds: async ({ open, eraseLog, rewindTo }) => {
      const storage = await open()
      await postMany(storage, scope, 'm', 3)
      const subscriber = follow(storage, scope, 0)
      await subscriber.come(3)
      await eraseLog(scope)
      await rewindTo(scope, 0)
      // Whoever subscribes next makes it look.
      const next = follow(storage, scope, 0)
      await assert.rejects(subscriber.ended, StorageUnavailable)
      await next.stop().catch(() => undefined)
    },
  },
]
