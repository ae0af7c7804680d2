/** Group commit on both databases: what shares a batch does not share a fate (domain §10). */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { needing, posted, save, scope, upTo, writes } from '../../src/storage/contract/subject.js'
import { StorageUnavailable } from '../../src/storage/port.js'
import { breathe } from '../../src/workspace/breathe.js'
import { hold } from '../support/held.js'
import { type LaneOptions, openLane, type Provider, postgresql, sqlite } from '../support/lanes.js'
import { describePostgres } from '../support/postgres.js'
import { ids, messageIds, post, postAll, tally, until, workspaceWithThread } from '../support/posting.js'
import { query } from '../support/sql.js'

const factsOf = (provider: Provider): void => {
  const { create, open, locking, everything, refusing } = provider
  const opened = (url: string, options?: LaneOptions) => openLane(provider, url, options)

  test('what waits for a commit is written together with what else waits', async () => {
    const { storage, commits } = await opened(await create())
    const workspace = await workspaceWithThread(storage)
    expect(tally(await postAll(workspace, ids(100)))).toEqual({ posted: 100 })
    expect(commits.length).toBe(2)
    expect(await messageIds(workspace)).toEqual(ids(100))
  })

  test('what waits for its turn in a busy process is written together as well', async () => {
    const { storage, commits } = await opened(await create())
    const workspace = await workspaceWithThread(storage)
    commits.length = 0
    await breathe()
    for (const begun = performance.now(); performance.now() - begun < 30; );
    expect(tally(await postAll(workspace, ids(100)))).toEqual({ posted: 100 })
    expect(commits.length).toBeLessThanOrEqual(2)
  })

  test('work that fails drops its own writes and none of those it is batched with', async () => {
    const { storage } = await opened(await create())
    const workspace = await workspaceWithThread(storage)
    const failure = new Error('no')
    const failing = () =>
      storage.transaction(workspace.scope, async (transaction) => {
        await transaction.save(writes({ events: [posted('dropped')], messages: ['dropped'] }))
        throw failure
      })
    const ends = await Promise.allSettled([
      post(workspace, 'm1'),
      failing(),
      post(workspace, 'm2'),
      failing(),
    ])
    expect(ends.map((end) => (end.status === 'rejected' ? end.reason : end.value))).toEqual([
      'posted',
      failure,
      'posted',
      failure,
    ])
    expect(await messageIds(workspace)).toEqual(['m1', 'm2'])
    expect(await post(workspace, 'dropped')).toBe('posted')
  })

  test('a write that the database refuses fails alone, as a fault, and uses up no id', async () => {
    const url = await create()
    const { storage } = await opened(url)
    const workspace = await workspaceWithThread(storage)
    for (const statement of refusing) await query(url, statement)
    const ends = await Promise.all([
      post(workspace, 'm1'),
      post(workspace, 'm2', 'poison').catch((error: unknown) => error),
      post(workspace, 'm3'),
    ])
    expect(ends).toEqual(['posted', expect.any(Error), 'posted'])
    expect(ends[1]).not.toBeInstanceOf(StorageUnavailable)
    expect(await messageIds(workspace)).toEqual(['m1', 'm3'])
    expect(await post(workspace, 'm2')).toBe('posted')
  })

  test('a stored entity that cannot be read fails those who need it and nobody else', async () => {
    const url = await create()
    const { storage } = await opened(url)
    const workspace = await workspaceWithThread(storage)
    await workspace.commit({ type: 'create_thread', threadId: 't2' })
    await query(url, `UPDATE artifactr_threads SET body = '{' WHERE id = 't2'`)
    const command = { type: 'post_message', threadId: 't2', messageId: 'm2', content: 'hello' } as const
    const failing = () => workspace.commit(command).catch((error: unknown) => error)
    const ends = await Promise.all([post(workspace, 'm1'), failing(), post(workspace, 'm3')])
    expect(ends).toEqual(['posted', expect.any(SyntaxError), 'posted'])
  })

  test('work whose second load finds that others committed since its first is run again', async () => {
    const url = await create()
    const [{ storage }, { storage: other }] = [await opened(url), await opened(url)]
    await save(storage, scope, { events: [posted('m1')], messages: ['m1'] })
    const seen: unknown[] = []
    await storage.transaction(scope, async (transaction) => {
      const first = await transaction.load(needing({ messages: ['m1', 'm2'] }))
      if (seen.length === 0) await save(other, scope, { events: [posted('m2')], messages: ['m2'] })
      seen.push([...first.messages.values()])
      const second = await transaction.load(needing({ messages: ['m2', 'm3'] }))
      seen.push([...second.messages.values()])
      await transaction.save(writes({ events: [posted('m4')], messages: ['m4'] }))
    })
    expect(seen).toEqual([
      [true, false],
      [true, true],
      [true, false],
    ])
    expect(await storage.head(scope)).toBe(3)
  })

  test('a write that is based on what others have changed since is not applied', async () => {
    const url = await create()
    const { storage, commits } = await opened(url)
    const workspace = await workspaceWithThread(storage)
    expect(await post(workspace, 'm1')).toBe('posted')
    const dialect = await open(url)
    onTestFinished(() => dialect.close())
    for (const outdated of commits) expect(await dialect.write(outdated)).toBe(false)
    expect(await messageIds(workspace)).toEqual(['m1'])
    expect(await post(workspace, 'm2')).toBe('posted')
  })

  test('nobody is told of a result before it is written', async () => {
    let enter = () => {}
    const gate = new Promise<void>((resolve) => {
      enter = resolve
    })
    const url = await create()
    const other = (await opened(url)).storage
    const workspace = await workspaceWithThread(other)
    const { storage, commits } = await opened(url, { before: () => gate })
    let told = 0
    const posts = upTo(3).map(() =>
      storage
        .transaction(workspace.scope, (transaction) => transaction.save(writes({ events: [posted('m1')] })))
        .then(async () => {
          told++
          expect(await other.head(workspace.scope)).toBeGreaterThan(1)
        }),
    )
    await until(() => commits.length === 1)
    expect(await other.head(workspace.scope)).toBe(1)
    expect(told).toBe(0)
    enter()
    await Promise.all(posts)
    expect(told).toBe(3)
  })

  test('a post refused for a message that was not written in the end is told of the failure and not that it exists', async () => {
    const url = await create()
    const { storage, commits } = await opened(url, { patience: 2_000 })
    const workspace = await workspaceWithThread(storage)
    const release = await hold(url, ...locking)
    expect(tally(await postAll(workspace, Array(20).fill('m1')))).toEqual({ unavailable: 20 })
    expect(commits.length).toBeGreaterThan(2)
    await release()
    expect(await messageIds(workspace)).toEqual([])
    expect(tally(await postAll(workspace, Array(20).fill('m1')))).toEqual({ posted: 1, 'already exists': 19 })
  })

  test('what waits beyond the bound is unavailable at once, and what waits within it is written', async () => {
    const url = await create()
    const patience = 20_000
    const { storage } = await opened(url, { patience, maxWaiting: 40 })
    const [locked, other] = [await workspaceWithThread(storage), await workspaceWithThread(storage, 'w2')]
    const release = await hold(url, ...locking)
    const first = post(locked, 'first')
    await pause(50)
    const within = postAll(locked, ids(20))
    const began = performance.now()
    expect(tally(await postAll(locked, ids(30, 'beyond')))).toEqual({ unavailable: 30 })
    expect(performance.now() - began).toBeLessThan(patience / 4)
    const elsewhere = postAll(other, ids(30))
    expect(await post(other, 'beyond')).toBe('unavailable')
    await release()
    expect(tally([await first, ...(await within)])).toEqual({ posted: 21 })
    expect(tally(await elsewhere)).toEqual({ posted: 19, unavailable: 11 })
    expect(tally(await postAll(locked, ids(15, 'later')))).toEqual({ posted: 15 })
  })

  test('a database that takes no writes is not there, though it answers', async () => {
    const url = await create()
    const { storage } = await opened(url, { patience: 200 })
    const workspace = await workspaceWithThread(storage)
    await storage.ping()
    const release = await hold(url, ...everything)
    expect(await post(workspace, 'm1')).toBe('unavailable')
    expect(await workspace.head()).toBe(1)
    await expect(storage.ping()).rejects.toThrow(StorageUnavailable)
    await release()
    await storage.ping()
    expect(await storage.lapsedLeases(10)).toEqual([])
  })

  test('closing waits for what is under way, and afterwards everything is unavailable', async () => {
    const url = await create()
    const { storage, commits } = await opened(url)
    const workspace = await workspaceWithThread(storage)
    const release = await hold(url, ...locking)
    const posts = postAll(workspace, ids(10))
    await until(() => commits.length > 1)
    const closed = storage.close()
    expect(await post(workspace, 'late')).toBe('unavailable')
    await release()
    expect(tally(await posts)).toEqual({ posted: 10 })
    await closed
    await storage.close()
    await expect(workspace.head()).rejects.toThrow(StorageUnavailable)
    await expect(storage.ping()).rejects.toThrow(StorageUnavailable)
    await expect(storage.acquireLease(scope, 'k', 'a', 1)).rejects.toThrow(StorageUnavailable)
    const again = await opened(url)
    expect(await again.storage.head(workspace.scope)).toBe(11)
  })

  test('closing waits for reads that wait for a connection', async () => {
    const { storage } = await opened(await create())
    const reads = Promise.all(upTo(50).map(() => storage.head(scope)))
    const closed = storage.close()
    expect(await reads).toEqual(Array(50).fill(0))
    await closed
  })
}

describe('on SQLite', () => factsOf(sqlite))
describePostgres('on PostgreSQL', () => factsOf(postgresql))
