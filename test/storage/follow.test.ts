/** Followers over a log whose every read is seen. */
import { describe, expect, onTestFinished, test } from 'vitest'
import type { Envelope, Seq } from '../../src/core/envelopes.js'
import { Followers, type FollowersOptions, type LogSource } from '../../src/storage/follow.js'
import { MemoryData, MemoryStorage } from '../../src/storage/memory.js'
import { mapPage, pageOf } from '../../src/storage/pages.js'
import { type Scope, type Storage, StorageUnavailable, type Stretch } from '../../src/storage/port.js'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { openPrismaStorage } from '../../src/storage/prisma/open.js'
import type { Unreadable } from '../../src/storage/unreadable.js'
import { until } from '../support/gateway.js'
import { ids, post, workspaceWithThread } from '../support/posting.js'
import { query } from '../support/sql.js'
import { temporaryDirectory } from '../support/tmp.js'

const scope: Scope = { tenantId: 'acme', workspaceId: 'w1' }

/** A log in memory, read by followers whose reads are counted and may be made to fail. */
const following = (options: Partial<FollowersOptions> = {}) => {
  const log: Envelope[] = []
  const reads: { kind: 'head' | 'events'; size: number }[] = []
  let failure: Error | null = null
  const read = async <Result>(
    kind: 'head' | 'events',
    work: () => Result,
    sizeOf: (result: Result) => number,
  ) => {
    await new Promise((resolve) => setImmediate(resolve))
    if (failure !== null) throw failure
    const result = work()
    reads.push({ kind, size: sizeOf(result) })
    return result
  }
  const source: LogSource = {
    head: () =>
      read(
        'head',
        () => log.length,
        () => 1,
      ),
    events: (_, __, window) =>
      read(
        'events',
        () => {
          const { after = 0, before = Infinity } = window
          const found = log.filter(({ seq }) => seq > after && seq < before)
          const stored = found.map((envelope) => ({ envelope, body: JSON.stringify(envelope) }))
          return mapPage(pageOf(stored, window), ({ envelope }) => envelope)
        },
        ({ entries }) => entries.length,
      ),
  }
  const followers = new Followers(source, { pollInterval: () => Infinity, ...options })
  onTestFinished(() => followers.close())
  const append = (count: number, content = 'hello') => {
    for (let n = 0; n < count; n++) {
      const seq = log.length + 1
      log.push({
        seq,
        id: `e${seq}`,
        ts: '2026-01-01T00:00:00.000Z',
        workspaceId: 'w1',
        threadId: 't1',
        actor: { kind: 'user', id: 'ada' },
        event: { type: 'message_posted', threadId: 't1', messageId: `m${seq}`, content, kind: 'message' },
      })
    }
  }
  const subscribe = (afterSeq: Seq = 0, abort = new AbortController()) => {
    const stretches: Stretch[] = []
    const ended = (async () => {
      for await (const stretch of followers.subscribe(scope, afterSeq, { signal: abort.signal }))
        stretches.push(stretch)
    })()
    ended.catch(() => undefined)
    const comeTo = (seq: Seq) =>
      until(10_000, `the position ${seq}`, () => (stretches.at(-1)?.upTo ?? 0) >= seq || null)
    const stop = () => {
      abort.abort()
      return ended
    }
    return { stretches, ended, comeTo, stop }
  }
  return {
    log,
    reads,
    followers,
    append,
    subscribe,
    fail: (error: Error | null) => {
      failure = error
    },
  }
}

describe('the followers of a storage', () => {
  test('read what is appended once, however many subscribe', async () => {
    const { reads, followers, append, subscribe } = following()
    const subscribers = Array.from({ length: 500 }, () => subscribe())
    await until(5_000, 'the first look', () => reads.length > 0 || null)
    append(1)
    followers.wake(scope)
    await Promise.all(subscribers.map(({ comeTo }) => comeTo(1)))
    expect(followers.size).toBe(1)
    expect(reads.length).toBeLessThan(10)
    for (const { stretches } of subscribers) expect(stretches).toHaveLength(1)
  })

  test('look once more, however often they are told while they look', async () => {
    const { reads, followers, append, subscribe } = following()
    const subscriber = subscribe()
    await until(5_000, 'the first look', () => reads.length > 0 || null)
    append(1)
    for (let n = 0; n < 1_000; n++) followers.wake(scope)
    await subscriber.comeTo(1)
    expect(reads.length).toBeLessThan(8)
  })

  test('are gone with their last subscriber', async () => {
    let rested = 0
    const { followers, subscribe } = following({ pollInterval: () => 5, onRest: () => rested++ })
    const subscribers = [subscribe(), subscribe()]
    await until(5_000, 'a follower', () => followers.size === 1 || null)
    await subscribers[0]?.stop()
    expect([followers.size, rested]).toEqual([1, 0])
    await subscribers[1]?.stop()
    expect([followers.size, rested]).toEqual([0, 1])
  })

  test('find what nobody told them of by looking now and then', async () => {
    const { append, subscribe } = following({ pollInterval: () => 5 })
    const subscriber = subscribe()
    append(1)
    await subscriber.comeTo(1)
    append(2)
    await subscriber.comeTo(3)
  })

  test('go on once the storage is back, without being told', async () => {
    const { append, subscribe, fail, followers } = following()
    append(600)
    const subscriber = subscribe()
    await subscriber.comeTo(1)
    fail(new StorageUnavailable('down'))
    append(1)
    followers.wake(scope)
    await new Promise((resolve) => setImmediate(resolve))
    fail(null)
    await subscriber.comeTo(601)
    expect(subscriber.stretches.flatMap(({ envelopes }) => envelopes.map(({ seq }) => seq))).toEqual(
      Array.from({ length: 601 }, (_, index) => index + 1),
    )
  })

  test('end their subscribers with a fault of the storage, and begin anew with the next', async () => {
    const { append, subscribe, fail, followers } = following()
    const subscriber = subscribe()
    append(1)
    await subscriber.comeTo(1).catch(() => undefined)
    const fault = new RangeError('a fault')
    fail(fault)
    followers.wake(scope)
    await expect(subscriber.ended).rejects.toBe(fault)
    fail(null)
    await subscribe().comeTo(1)
  })

  test('read what is bounded in bytes, and go on until there is no more', async () => {
    const { append, reads, subscribe } = following()
    append(60, 'x'.repeat(60_000))
    const subscriber = subscribe()
    await subscriber.comeTo(60)
    const sizes = reads.filter(({ kind }) => kind === 'events').map(({ size }) => size)
    expect(Math.max(...sizes)).toBe(5)
  })

  test('keep little of a log for those who do not read on, who get it all nevertheless', async () => {
    const { followers, append, subscribe } = following()
    append(1)
    const stretches = followers.subscribe(scope, 0)
    expect((await stretches.next()).value?.upTo).toBe(1)
    const other = subscribe()
    for (let round = 0; round < 30; round++) {
      append(100)
      followers.wake(scope)
      await other.comeTo(1 + 100 * (round + 1))
    }
    let upTo = 1
    for await (const stretch of stretches) {
      expect(stretch.envelopes[0]?.seq).toBe(upTo + 1)
      upTo = stretch.upTo
      if (upTo === 3_001) break
    }
  })
})

describe('what is held of a log', () => {
  /** How many events are read again for who subscribes to a log of three million characters, beside others that are followed. */
  const readAgain = async (others: number): Promise<number> => {
    const { reads, followers, append, subscribe } = following()
    const elsewhere = Array.from({ length: others }, (_, n) =>
      followers.subscribe({ ...scope, workspaceId: `other${n}` }, 0).next(),
    )
    const first = subscribe()
    await until(10_000, 'a look at each', () => reads.length > others || null)
    append(30, 'x'.repeat(100_000))
    followers.wake(scope)
    await first.comeTo(30)
    reads.length = 0
    await subscribe().comeTo(30)
    followers.close()
    await Promise.allSettled(elsewhere)
    return reads.reduce((total, { kind, size }) => total + (kind === 'events' ? size : 0), 0)
  }

  test('is all of a few million characters where no other is followed', async () => {
    expect(await readAgain(0)).toBe(0)
  })

  test('is a share of what is held of all where many are', async () => {
    expect(await readAgain(64)).toBeGreaterThan(15)
  })
})

describe('a stored event that is broken', () => {
  const isTold = async (storage: Storage, told: Unreadable[], breakIt: () => Promise<void>) => {
    const workspace = await workspaceWithThread(storage)
    for (const id of ids(3)) await post(workspace, id)
    await breakIt()
    for (let n = 0; n < 2; n++) {
      const seqs: Seq[] = []
      for await (const stretch of storage.subscribe(scope, 0)) {
        seqs.push(...stretch.envelopes.map(({ seq }) => seq))
        if (stretch.upTo === 4) break
      }
      expect(seqs).toEqual([1, 2, 3, 4])
    }
    expect(told.map(({ seq, scope }) => ({ seq, scope }))).toEqual([{ seq: 3, scope }])
    expect(told[0]?.error).toBeInstanceOf(SyntaxError)
  }

  test('is told of once, in memory', async () => {
    const told: Unreadable[] = []
    const data = new MemoryData()
    const storage = new MemoryStorage(data, { onUnreadable: (problem) => told.push(problem) })
    await isTold(storage, told, async () => void data.workspace(scope).log.set(3, '{'))
  })

  test('is told of once, in a database', async () => {
    const told: Unreadable[] = []
    const url = `file:${temporaryDirectory()}/artifactr.db`
    await migrate(url)
    const storage = await openPrismaStorage({ url, onUnreadable: (problem) => told.push(problem) })
    onTestFinished(() => storage.close())
    await isTold(storage, told, async () => {
      await query(url, "UPDATE artifactr_events SET envelope = '{' WHERE seq = 3")
    })
  })
})
