/** How the process ends: in order, whether it was told to or something in it failed that nobody caught. */
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { openEventStream } from '../support/eventStreams.js'
import { post, type RunningGateway, spawnGateway, startGateway, until } from '../support/gateway.js'
import { hold } from '../support/held.js'
import { describePostgres, migratedDatabase } from '../support/postgres.js'
import { createThread, postMessage, upTo } from '../support/posts.js'
import { openSocket } from '../support/sockets.js'
import { query } from '../support/sql.js'
import { beginProbe, beginRequest, refusesConnections } from '../support/underWay.js'

const posting = (threadId: string, messageId: string, content: string, workspaceId = 'w1') =>
  JSON.stringify({
    query: `mutation ($input: PostMessageInput!) { postMessage(input: $input) {
      __typename ... on PostMessageSuccess { seq run { id } } } }`,
    variables: { input: { workspaceId, threadId, messageId, content } },
  })

const events = async ({ url }: RunningGateway) => {
  const { body } = await post(url, {
    query: `{ workspace(workspaceId: "w1") { events { seq event { type
      ... on MessagePostedEvent { messageId content }
      ... on RunEndedEvent { status reason } } } } }`,
  })
  return body.data.workspace.events.map(({ event }: { event: object }) => event)
}

const failing = fileURLToPath(new URL('../support/failing.mjs', import.meta.url))

describe('an error that nobody caught', () => {
  it.each([
    ['a rejected promise', 'SIGUSR2'],
    ['an exception', 'SIGHUP'],
  ] as const)(
    '%s is logged in full, what is under way is finished, and the process ends with 1',
    async (_, signal) => {
      const gateway = await startGateway({ NODE_OPTIONS: `--import ${failing}` })
      await createThread(gateway.url)
      const request = await beginRequest(gateway.url, posting('t1', 'm1', 'hello'))
      const stream = await openEventStream(gateway.url)
      gateway.signal(signal)
      await refusesConnections(gateway.url)
      request.finish()
      expect(await gateway.exit).toEqual({ code: 1, signal: null })
      expect(await request.answer).toContain('"__typename":"PostMessageSuccess"')
      // What the process sent last may come after it is gone.
      await stream.come('the end', () => stream.isOver)
      expect(stream.seqs).toEqual([1, 2])
      expect(stream.sent.at(-1)?.event).toBe('complete')
      const told = gateway.log().find(({ level }) => level === 60)
      // Where and of what kind, as everything that is logged of errors: their messages may be anything somebody said.
      expect(told).toMatchObject({ err: { type: 'Error', stack: expect.stringContaining('failing.mjs') } })
      if (signal === 'SIGUSR2') expect(told).toMatchObject({ err: { cause: { type: 'Error' } } })
      expect(gateway.errors()).toBe('')
    },
  )
})

describePostgres('a process that is told to stop', () => {
  it('is not ready at once, finishes requests, hands turns over, ends streams, and ends with 0', async () => {
    const env = { DATABASE_URL: await migratedDatabase(), SHUTDOWN_TIMEOUT: '60000' }
    const gateway = await startGateway(env)
    for (const thread of ['t1', 't2']) await createThread(gateway.url, thread)
    await postMessage(gateway.url, '/slow 60000', { messageId: 'long' })
    const stream = await openEventStream(gateway.url)
    const socket = await openSocket(gateway.url)
    await socket.init()
    socket.subscribe('a')
    await stream.comeTo(4)
    await socket.come('the same', () => socket.seqs('a').length === 4)
    const request = await beginRequest(gateway.url, posting('t2', 'handed over', 'hello'))
    const probe = await beginProbe(gateway.url)
    gateway.signal('SIGTERM')
    await refusesConnections(gateway.url)
    expect(await probe.answer()).toMatch(/^HTTP\/1.1 503 .*"stopping"/s)
    socket.subscribe('late')
    expect((await socket.over('late')).payload[0].extensions).toMatchObject({
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
    })
    const other = await startGateway(env)
    // Streams end after the requests: who follows goes on meanwhile.
    expect(stream.isOver).toBe(false)
    request.finish()
    expect(await gateway.exit).toEqual({ code: 0, signal: null })
    expect(await request.answer).toContain('"run":null')
    expect(await socket.closed).toMatchObject({ code: 1001 })
    await stream.come('the end', () => stream.isOver)
    expect(stream.sent.at(-1)?.event).toBe('complete')
    for (const seqs of [stream.seqs, socket.seqs('a')]) {
      expect(seqs).toEqual(upTo(seqs.length))
      expect(seqs.length).toBeGreaterThanOrEqual(4)
    }
    // The other process may take its turn before this one has stopped the other.
    const found = await until(30_000, 'the end of both turns', async () => {
      const all: { type: string; status?: string; content?: string }[] = await events(other)
      return all.filter(({ type }) => type === 'run_ended').length === 2 ? all : null
    })
    const ends = found.filter(({ type }) => type === 'run_ended')
    expect(ends).toContainEqual({ type: 'run_ended', status: 'STOPPED', reason: 'shutdown' })
    expect(ends).toContainEqual({ type: 'run_ended', status: 'COMPLETED', reason: null })
    const completed = found.findIndex(({ status }) => status === 'COMPLETED')
    const replied = found.findIndex(({ content }) => content === 'You said: hello')
    expect(replied).toBeGreaterThan(0)
    expect(replied).toBeLessThan(completed)
  }, 60_000)

  it('ends with 1 at its deadline when something hangs, and keeps what it acknowledged', async () => {
    const url = await migratedDatabase()
    const gateway = await startGateway({ DATABASE_URL: url, SHUTDOWN_TIMEOUT: '200', AGENT: 'none' })
    await createThread(gateway.url)
    await createThread(gateway.url, 't1', 'locked')
    await hold(url, 'BEGIN', `SELECT * FROM artifactr_workspaces WHERE workspace_id = 'locked' FOR UPDATE`)
    const hanging = fetch(`${gateway.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: posting('t1', 'm1', 'never', 'locked'),
    }).catch(() => 'cut')
    await until(20_000, 'the write to wait for the lock', async () => {
      const waits = `SELECT 1 FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`
      return (await query(url, waits))[0] ?? null
    })
    await postMessage(gateway.url, 'kept', { messageId: 'm1' })
    const began = performance.now()
    expect(await gateway.kill('SIGTERM')).toEqual({ code: 1, signal: null })
    expect(performance.now() - began).toBeLessThan(20_000)
    expect(await hanging).toBe('cut')
    const other = await startGateway({ DATABASE_URL: url, AGENT: 'none' })
    expect(await events(other)).toMatchObject([{ type: 'thread_created' }, { messageId: 'm1' }])
  }, 60_000)
})

describe('a process that waits for its database', () => {
  it('ends at once when it is told to', async () => {
    const gateway = spawnGateway({ DATABASE_URL: 'postgresql://user:secret@127.0.0.1:1/db' })
    await until(20_000, 'a try', () => gateway.output().includes('cannot be used yet') || null)
    const began = performance.now()
    expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(performance.now() - began).toBeLessThan(10_000)
  })
})
