/** Readers that stop reading: they are told so, hold no memory and nobody else back, and miss nothing when they come back. */
import { createServer } from 'node:http'
import { promisify } from 'node:util'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGateway, headerAuth, MemoryStorage, Workspaces } from '../../../src/index.js'
import { type EventStreamClient, openEventStream } from '../../support/eventStreams.js'
import { openFlood } from '../../support/flood.js'
import { startGateway, until } from '../../support/gateway.js'
import { memoryOf } from '../../support/memory.js'
import { createThread, postMessage, upTo } from '../../support/posts.js'
import { serving } from '../../support/serving.js'
import { openSocket } from '../../support/sockets.js'
import { temporaryDirectory } from '../../support/tmp.js'

const MESSAGES = 3_200
const LENGTH = 65_000
const MEGABYTES = (MESSAGES * LENGTH) / 1e6

/** Reads on until so many more bytes have come, or the event has, and stops again. */
const take = (client: EventStreamClient, bytes: number, last: number): Promise<void> =>
  new Promise((resolve) => {
    const enough = client.bytes + bytes
    const onData = () => {
      if (client.bytes < enough && client.seqs.at(-1) !== last) return
      client.pause()
      onEnd()
    }
    const onEnd = () => {
      client.response.off('data', onData).off('close', onEnd)
      resolve()
    }
    client.response.on('data', onData).on('close', onEnd)
    client.resume()
  })

describe('readers that never read while 200 MB of events go by', () => {
  it('are ended, and hold neither memory nor others back', async () => {
    const DATABASE_URL = `file:${temporaryDirectory()}/artifactr.db`
    const gateway = await startGateway({ DATABASE_URL, AGENT: 'none' })
    const { url, pid } = gateway
    await createThread(url)
    const half = { messages: MESSAGES / 2, length: LENGTH, atOnce: 16 }
    const floods = await Promise.all([openFlood(DATABASE_URL, half), openFlood(DATABASE_URL, half)])

    const stuck = await openEventStream(url)
    onTestFinished(() => stuck.drop())
    const stuckSocket = await openSocket(url)
    await stuckSocket.init()
    stuckSocket.subscribe('a')
    await stuck.comeTo(1)
    await stuckSocket.come('the replay', () => stuckSocket.of('a').length === 2)
    stuck.pause()
    stuckSocket.socket.pause()

    // Selects little, so that it is this reader's own work that is small, and not that of the gateway.
    const query = 'subscription { events(workspaceId: "w1", afterSeq: 0) { ... on Envelope { seq } } }'
    const lively = await openEventStream(url, { query })
    onTestFinished(() => lively.drop())
    await lively.comeTo(1)

    const before = memoryOf(pid)
    let most = before
    const sampling = setInterval(() => {
      most = Math.max(most, memoryOf(pid))
    }, 100)
    onTestFinished(() => clearInterval(sampling))
    // They read on as soon as they are ended, since they are not waited for for ever to hear of it.
    const ended = until(90_000, 'the slow readers to be ended', () => {
      const lines = gateway.log().filter(({ msg }) => msg === 'stream ended')
      return lines.length >= 2 || null
    }).then(() => {
      stuck.resume()
      stuckSocket.socket.resume()
    })
    const begun = performance.now()
    const grown: number[] = []
    for (const [index, flood] of floods.entries()) {
      await flood()
      await lively.comeTo(1 + (MESSAGES / 2) * (index + 1), 60_000)
      grown.push(most - before)
    }
    const seconds = (performance.now() - begun) / 1000
    expect(lively.seqs).toEqual(upTo(MESSAGES + 1))
    await ended
    clearInterval(sampling)
    const [first = 0, whole = 0] = grown
    console.log(
      `${MEGABYTES} MB of events in ${seconds.toFixed(1)} s: the gateway's ${before.toFixed(0)} MB grew by at most ` +
        `${first.toFixed(0)} MB during the first half of them, and ${whole.toFixed(0)} MB during all`,
    )
    // What is not collected yet, but nothing that grows with what goes by.
    expect(whole).toBeLessThan(300)
    expect(whole - first).toBeLessThan(MEGABYTES / 2)

    // They find out when they read on, and come back for the rest.
    await until(15_000, 'the end', () => stuck.isOver || null)
    expect(stuck.failure()).toMatchObject({ code: 'SLOW_CONSUMER', retryable: true })
    expect(stuck.sent.at(-1)?.event).toBe('complete')
    const { type, payload } = await stuckSocket.over('a')
    expect([type, payload[0].extensions.code]).toEqual(['error', 'SLOW_CONSUMER'])

    const last = stuck.seqs.at(-1) ?? 0
    expect(stuck.seqs).toEqual(upTo(last))
    const resumed = await openEventStream(url, { query, headers: { 'last-event-id': String(last) } })
    onTestFinished(() => resumed.drop())
    await resumed.comeTo(MESSAGES + 1, 60_000)
    expect([...stuck.seqs, ...resumed.seqs]).toEqual(upTo(MESSAGES + 1))

    // The WebSocket goes on: it is not the connection that failed.
    const lastOverSocket = stuckSocket.seqs('a').at(-1) ?? 0
    stuckSocket.subscribe('b', { query: query.replace('afterSeq: 0', `afterSeq: ${lastOverSocket}`) })
    await stuckSocket.come('the rest', () => stuckSocket.seqs('b').at(-1) === MESSAGES + 1, 60_000)
    expect([...stuckSocket.seqs('a'), ...stuckSocket.seqs('b')]).toEqual(upTo(MESSAGES + 1))
  }, 240_000)
})

describe('a reader that is slow', () => {
  it('is not ended while it takes something, however far behind it is', async () => {
    const stallTimeout = 1_500
    const { url } = await serving({ streams: { stallTimeout } })
    await createThread(url)
    // More than all buffers on the way hold.
    const posts = 300
    for (let n = 0; n < posts; n++) await postMessage(url, 'x'.repeat(60_000))
    const client = await openEventStream(url)
    onTestFinished(() => client.drop())
    // Takes a little, pauses for less than it may, and so on.
    const begun = performance.now()
    while (client.seqs.at(-1) !== posts + 1 && !client.isOver) {
      await take(client, 100_000, posts + 1)
      await new Promise((resolve) => setTimeout(resolve, 20))
    }
    expect(client.failure()).toBeUndefined()
    expect(client.seqs).toEqual(upTo(posts + 1))
    expect(performance.now() - begun).toBeGreaterThan(2 * stallTimeout)
  }, 90_000)

  it('is cut off when it does not even take that it was ended', async () => {
    const storage = new MemoryStorage()
    const streams = { stallTimeout: 100, lingering: 200 }
    const gateway = createGateway({ storage, resolveActor: headerAuth, streams })
    const server = createServer(gateway.handle).on('upgrade', gateway.upgrade)
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    onTestFinished(async () => {
      await gateway.close()
      server.close()
    })
    const address = server.address()
    const url = `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
    const workspace = new Workspaces(storage).open('dev', 'w1', { actor: { kind: 'user', id: 'ada' } })
    await workspace.commit({ type: 'create_thread', threadId: 't1' })
    const stream = await openEventStream(url)
    onTestFinished(() => stream.drop())
    const socket = await openSocket(url)
    await socket.init()
    socket.subscribe('a')
    await stream.comeTo(1)
    await socket.come('the replay', () => socket.of('a').length === 2)
    stream.pause()
    socket.socket.pause()
    const content = 'x'.repeat(60_000)
    for (let n = 0; n < 200; n++) await workspace.commit({ type: 'post_message', threadId: 't1', content })
    // Neither knows of it before it reads on.
    const connections = promisify(server.getConnections.bind(server))
    await until(15_000, 'both to be cut off', async () => (await connections()) === 0 || null)
    stream.resume()
    socket.socket.resume()
    await until(15_000, 'the end of the stream', () => stream.isOver || null)
    expect((await socket.closed).code).toBe(1006)
  })
})
