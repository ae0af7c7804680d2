/** GraphQL over WebSocket. */
import { connect } from 'node:net'
import { describe, expect, it, onTestFinished } from 'vitest'
import { MemoryStorage } from '../../../src/storage/memory.js'
import { startGateway, until } from '../../support/gateway.js'
import { createThread, postMessage } from '../../support/posts.js'
import { serving } from '../../support/serving.js'
import { openSocket } from '../../support/sockets.js'

const VIEWER = '{ viewer { tenantId actor { displayName ... on UserActor { userId } } } }'

describe('a WebSocket', () => {
  it('carries subscriptions, each event once and in order', async () => {
    const { url } = await serving()
    await createThread(url)
    const client = await openSocket(url)
    await client.init()
    client.subscribe('a')
    await client.come('the replay', () => client.of('a').length === 2)
    await postMessage(url)
    await client.come('the message', () => client.of('a').length === 3)
    expect(client.seqs('a')).toEqual([1, 2])
    expect(client.of('a')[1]?.payload).toEqual({
      data: { events: { __typename: 'ReplayComplete', upToSeq: 1 } },
    })
  })

  it('carries queries and mutations as well', async () => {
    const { url } = await serving()
    const client = await openSocket(url)
    await client.init({ 'x-tenant': 'acme', 'x-user': 'ann' })
    client.subscribe('q', { query: VIEWER })
    await client.over('q')
    expect(client.of('q')[0]?.payload).toEqual({
      data: { viewer: { tenantId: 'acme', actor: { displayName: 'ann', userId: 'ann' } } },
    })
    const query =
      'mutation { createThread(input: { workspaceId: "w1" }) { ... on CreateThreadSuccess { seq } } }'
    client.subscribe('m', { query })
    await client.over('m')
    expect(client.of('m').map(({ type }) => type)).toEqual(['next', 'complete'])
    expect(client.of('m')[0]?.payload).toEqual({ data: { createThread: { seq: 1 } } })
  })

  it('ends a subscription that its client completes, and no other', async () => {
    const { url, logged } = await serving()
    await createThread(url)
    const client = await openSocket(url)
    await client.init()
    for (const id of ['a', 'b']) client.subscribe(id)
    await client.come('both replays', () => client.of('a').length + client.of('b').length === 4)
    client.send({ id: 'a', type: 'complete' })
    const ended = () => logged.filter(({ message }) => message === 'stream ended').length
    await until(20_000, 'the end', () => ended() === 1 || null)
    await postMessage(url)
    await client.come('the message', () => client.seqs('b').length === 2)
    expect(client.seqs('a')).toEqual([1])
    client.socket.terminate()
    await until(20_000, 'the other end', () => ended() === 2 || null)
  })

  it('ends one operation that fails alone, with the errors that HTTP has', async () => {
    const { url } = await serving({ authorize: ({ workspaceId }) => workspaceId !== 'shut' })
    await createThread(url)
    const client = await openSocket(url)
    await client.init()
    client.subscribe('good')
    client.subscribe('shut', { variables: { workspaceId: 'shut' } })
    client.subscribe('ids', { variables: { threadIds: ['\n'] } })
    client.subscribe('field', { query: '{ nothing }' })
    client.subscribe('syntax', { query: '{' })
    client.subscribe('variable', { variables: { afterSeq: 'x' } })
    client.subscribe('deep', { query: `{ ${'a { '.repeat(5_000)}b ${'}'.repeat(5_000)} }` })
    const codeOf = async (id: string) => {
      const last = await client.over(id)
      const errors = last.type === 'error' ? last.payload : client.of(id)[0]?.payload.errors
      return errors[0].extensions
    }
    expect(await codeOf('shut')).toEqual({ code: 'FORBIDDEN' })
    expect(await codeOf('ids')).toEqual({ code: 'BAD_USER_INPUT', argument: 'threadIds.0' })
    expect(await codeOf('field')).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED' })
    expect(await codeOf('syntax')).toEqual({ code: 'GRAPHQL_PARSE_FAILED' })
    expect(await codeOf('variable')).toMatchObject({ code: 'BAD_USER_INPUT' })
    expect(await codeOf('deep')).toEqual({ code: 'DOCUMENT_TOO_DEEP' })
    await postMessage(url)
    await client.come('the message', () => client.seqs('good').length === 2)
  })

  it('masks what is unforeseen, and logs it', async () => {
    const storage = Object.assign(new MemoryStorage(), {
      head: async () => {
        throw new Error('secret detail')
      },
    })
    const { url, logged } = await serving({ storage })
    const client = await openSocket(url)
    await client.init()
    client.subscribe('a')
    client.subscribe('q', { query: '{ workspace(workspaceId: "w1") { headSeq } }' })
    for (const id of ['a', 'q']) {
      await client.over(id)
      expect(client.of(id)[0]?.payload.errors[0].extensions.code).toBe('INTERNAL_SERVER_ERROR')
    }
    expect(JSON.stringify(client.messages)).not.toContain('secret')
    expect(logged.filter(({ level }) => level === 'error')).toHaveLength(2)
  })

  it('takes so many operations at once and no more', async () => {
    const { url } = await serving()
    const client = await openSocket(url)
    await client.init()
    for (let n = 1; n <= 257; n++) client.subscribe(`s${n}`)
    const { type, payload } = await client.over('s257')
    expect([type, payload[0].extensions]).toEqual(['error', { code: 'TOO_MANY_OPERATIONS', retryable: true }])
    await createThread(url)
    await client.come('the event, for all', () => client.seqs('s1').length + client.seqs('s256').length === 2)
  })
})

describe('a WebSocket that does not keep to the protocol', () => {
  it('is closed with 4408 when it does not say who it is', async () => {
    const { url } = await serving({ streams: { initTimeout: 30 } })
    const client = await openSocket(url)
    expect(await client.closed).toEqual({ code: 4408, reason: 'Connection initialisation timeout' })
  })

  it('is closed with 4401 when it asks before it is acknowledged', async () => {
    const { url } = await serving()
    const client = await openSocket(url)
    client.subscribe('a')
    expect(await client.closed).toEqual({ code: 4401, reason: 'Unauthorized' })
  })

  it.each([
    ['what is no message', 'nonsense', 4400],
    ['an id that is too long', { id: 'a'.repeat(257), type: 'subscribe', payload: { query: VIEWER } }, 4400],
    ['a second beginning', { type: 'connection_init' }, 4429],
    ['an id that is taken', { id: 'a', type: 'subscribe', payload: { query: VIEWER } }, 4409],
  ])('is closed for %s', async (_, message, code) => {
    const { url } = await serving()
    const client = await openSocket(url)
    await client.init()
    client.subscribe('a')
    client.send(message)
    expect((await client.closed).code).toBe(code)
  })

  it('is closed when it speaks another one', async () => {
    const { url } = await serving()
    const client = await openSocket(url, { protocol: 'graphql-ws' }).catch((error: Error) => error)
    if (client instanceof Error) expect(client.message).toMatch(/subprotocol/i)
    else expect((await client.closed).code).toBe(4406)
  })

  it('is closed with 1009 for a message larger than a request may be', async () => {
    const { url } = await serving({ limits: { maxBodyBytes: 10_000 } })
    const client = await openSocket(url)
    await client.init()
    client.subscribe('a', { query: `{ viewer { tenantId } } #${'x'.repeat(10_000)}` })
    expect((await client.closed).code).toBe(1009)
  })

  it('is closed with 1009 for more than 64 KiB before it is acknowledged, however many messages that is', async () => {
    const { url } = await serving()
    const tooMuch = { code: 1009, reason: 'Too much before the acknowledgement' }
    const init = (length: number) =>
      JSON.stringify({ type: 'connection_init', payload: { other: ['x'] } }).padEnd(length)
    const within = await openSocket(url)
    within.send(init(65_536))
    await within.come('an acknowledgement', () => within.messages[0]?.type === 'connection_ack')
    within.send(JSON.stringify({ type: 'ping' }).padEnd(65_537))
    await within.come('an answer', () => within.messages[1]?.type === 'pong')
    const beyond = await openSocket(url)
    beyond.send(init(65_537))
    expect(await beyond.closed).toEqual(tooMuch)
    const often = await openSocket(url)
    for (let sent = 0; sent < 70; sent++) often.send(JSON.stringify({ type: 'ping' }).padEnd(1_024))
    often.send({ type: 'connection_init' })
    expect(await often.closed).toEqual(tooMuch)
    // Pongs that were still to be sent when it was closed are not.
    expect(often.messages.length).toBeLessThanOrEqual(64)
    expect(often.messages.filter(({ type }) => type !== 'pong')).toEqual([])
  })

  it('is not taken anywhere but at /graphql', async () => {
    const { url } = await serving()
    await expect(openSocket(url, { path: '/elsewhere' })).rejects.toThrow('404')
  })

  it('is dropped when it does not answer pings', async () => {
    const { url } = await serving({ streams: { pingEvery: 30 } })
    const { hostname, port } = new URL(url)
    const socket = connect({ host: hostname, port: Number(port) })
    onTestFinished(() => void socket.destroy())
    const head = [
      'GET /graphql HTTP/1.1',
      `host: ${hostname}`,
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: dGhlIHNhbXBsZSBub25jZQ==',
      'sec-websocket-protocol: graphql-transport-ws',
    ]
    socket.write(`${head.join('\r\n')}\r\n\r\n`)
    let isClosed = false
    socket
      .on('error', () => undefined)
      .on('close', () => {
        isClosed = true
      })
    socket.resume()
    await until(20_000, 'the connection to be dropped', () => isClosed || null)
  })

  it('is kept while it answers pings, though nothing happens', async () => {
    const { url } = await serving({ streams: { pingEvery: 20 } })
    const client = await openSocket(url)
    await client.init()
    client.subscribe('a')
    let pings = 0
    client.socket.on('ping', () => pings++)
    await client.come('ten pings', () => pings >= 10)
    await createThread(url)
    await client.come('the event', () => client.seqs('a').length === 1)
  })
})

describe('a gateway that stops', () => {
  it('closes its WebSockets with 1001 and without completing what clients are to come back for', async () => {
    const gateway = await startGateway({ AGENT: 'none' })
    await createThread(gateway.url)
    const client = await openSocket(gateway.url)
    await client.init()
    client.subscribe('a')
    await client.come('the replay', () => client.of('a').length === 2)
    const silent = await openSocket(gateway.url)
    const begun = performance.now()
    expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(performance.now() - begun).toBeLessThan(8_000)
    expect(await client.closed).toEqual({ code: 1001, reason: 'Going away' })
    expect(await silent.closed).toEqual({ code: 1001, reason: 'Going away' })
    expect(client.of('a').map(({ type }) => type)).toEqual(['next', 'next'])
  })

  it('lets mutations under way finish first, and takes no more', async () => {
    let release = () => {}
    const held = new Promise<void>((resolve) => {
      release = resolve
    })
    const storage = new MemoryStorage()
    const transaction = storage.transaction.bind(storage)
    storage.transaction = async (...given) => {
      await held
      return transaction(...given)
    }
    const served = await serving({ storage })
    const client = await openSocket(served.url)
    await client.init()
    const query =
      'mutation { createThread(input: { workspaceId: "w1" }) { ... on CreateThreadSuccess { seq } } }'
    client.subscribe('m', { query })
    client.subscribe('q', { query: VIEWER })
    await client.over('q')
    const stopped = served.stop()
    client.subscribe('late', { query: VIEWER })
    expect((await client.over('late')).payload[0].extensions).toEqual({
      code: 'SERVICE_UNAVAILABLE',
      retryable: true,
    })
    expect(client.socket.readyState).toBe(client.socket.OPEN)
    release()
    await client.over('m')
    expect(client.of('m')[0]?.payload).toEqual({ data: { createThread: { seq: 1 } } })
    expect((await client.closed).code).toBe(1001)
    expect(await stopped).toBe(true)
  })

  it('cuts what does not finish in time', async () => {
    const storage = Object.assign(new MemoryStorage(), { head: () => new Promise<number>(() => undefined) })
    const served = await serving({ storage })
    const client = await openSocket(served.url)
    await client.init()
    client.subscribe('q', { query: '{ workspace(workspaceId: "w1") { headSeq } }' })
    client.subscribe('r', { query: VIEWER })
    await client.over('r')
    expect(await Promise.race([served.stop(200), client.closed.then(() => 'closed')])).toBe('closed')
  })

  it('does not wait for WebSockets that do not answer', async () => {
    const served = await serving()
    const client = await openSocket(served.url)
    await client.init()
    client.socket.pause()
    expect(await served.stop(5_000)).toBe(true)
  })
})
