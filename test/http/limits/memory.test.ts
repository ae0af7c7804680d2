/** What requests hold in memory is bounded for all of them together, and given back whichever way they end. */
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGateway } from '../../../src/app.js'
import { Memory } from '../../../src/http/limits/memory.js'
import { MemoryStorage } from '../../../src/storage/memory.js'
import { openEventStream } from '../../support/eventStreams.js'
import { post, until } from '../../support/gateway.js'
import { askOverWebSocket, CREATE_THREAD, codesIn, errorsIn } from '../../support/limits.js'
import { held, heldIn, heldMoreThan, heldNothing } from '../../support/memory.js'
import { openRaw, rawRequest } from '../../support/rawHttp.js'
import { serving } from '../../support/serving.js'
import { openSocket } from '../../support/sockets.js'

const MB = 1_000_000

const CALLER = { tenantId: 'dev', actor: { kind: 'user', id: 'ada' } } as const

/** How many artifacts of a megabyte there are. What is asked of them is more than the buffers of a connection hold. */
const COUNT = 15

const create = `mutation ($input: CreateArtifactInput!) { createArtifact(input: $input) { __typename } }`

const artifact = (size: number, artifactId?: string) => ({
  query: create,
  variables: {
    input: { workspaceId: 'w1', artifactId, kind: 'note', data: { title: '', text: 'x'.repeat(size) } },
  },
})

/** Is answered with 15 MB, after as much was read: a page holds five of a megabyte. */
const PAGE = 'artifacts(first: 5) { edges { node { data } } }'
const LARGE = { query: `{ workspace(workspaceId: "w1") { a: ${PAGE} b: ${PAGE} c: ${PAGE} } }` }

const SMALL = { query: '{ viewer { tenantId } }' }

const withArtifacts = async (options: Parameters<typeof serving>[0] = {}, tenants = ['dev']) => {
  const served = await serving({ metrics: 'served', ...options })
  for (const tenant of tenants)
    for (let n = 0; n < COUNT; n++) await post(served.url, artifact(MB), { 'x-tenant': tenant })
  await heldNothing(served.url)
  return served
}

describe('what requests hold', () => {
  const memory = () => new Memory({ maxHeldBytes: 100 })
  const holdingOf = (all: Memory, tenantId: string) => {
    const holding = all.hold()
    holding.belongTo(tenantId)
    return holding
  }

  it('is at most half of it of one tenant, and all of it of several', () => {
    const all = memory()
    const [one, other, third] = ['a', 'a', 'b'].map((tenant) => holdingOf(all, tenant))
    expect(one?.take(30)).toBe(true)
    expect(other?.take(21)).toBe(false)
    expect(other?.take(20)).toBe(true)
    expect(third?.take(51)).toBe(false)
    expect(third?.take(50)).toBe(true)
    expect(holdingOf(all, 'c').take(1)).toBe(false)
    expect([third?.hasRoom(0), third?.hasRoom(1)]).toEqual([true, false])
    expect(all.held).toBe(100)
    one?.release()
    expect(holdingOf(all, 'a').take(30)).toBe(true)
  })

  it('is as much as it may need of a request that is alone', () => {
    const all = memory()
    const alone = holdingOf(all, 'a')
    expect(alone.take(500)).toBe(true)
    expect(alone.take(500)).toBe(true)
    expect(holdingOf(all, 'b').take(1)).toBe(false)
    alone.release()
    expect(all.held).toBe(0)
    expect(holdingOf(all, 'b').take(1_000)).toBe(true)
  })

  it('is given back once, when nothing more is made of it', async () => {
    const all = memory()
    const holding = holdingOf(all, 'a')
    holding.take(10)
    await holding.during(async () => {
      holding.release()
      holding.take(10)
      expect(all.held).toBe(20)
    })
    expect(all.held).toBe(0)
    holding.take(10)
    holding.release()
    expect(all.held).toBe(0)
  })
})

describe('a response that nobody takes', () => {
  it('is held until its connection is cut, and then it is not', async () => {
    const { url } = await withArtifacts({ streams: { stallTimeout: 500 } })
    const { socket, closed } = await openRaw(url)
    // A second one waits behind it.
    socket.write(rawRequest(LARGE).repeat(2))
    await heldMoreThan(url, 4 * COUNT * MB)
    await heldNothing(url)
    socket.resume()
    await closed
  })

  it('is not cut as long as some of it is taken', async () => {
    const stallTimeout = 400
    const { url } = await withArtifacts({ streams: { stallTimeout } })
    const connection = await openRaw(url)
    const { socket } = connection
    socket.write(rawRequest(LARGE).repeat(2))
    const begun = performance.now()
    // Takes a little, pauses for less than it may, and so on.
    const left = () => 2 * COUNT * MB - connection.length()
    while (left() > 0 && !socket.closed) {
      await connection.take(Math.min(200_000, left()))
      await new Promise((resolve) => setTimeout(resolve, 10))
    }
    expect(left()).toBeLessThanOrEqual(0)
    expect(performance.now() - begun).toBeGreaterThan(3 * stallTimeout)
    socket.resume()
    await heldNothing(url)
    // And the connection goes on.
    socket.write(rawRequest(SMALL))
    await until(
      10_000,
      'an answer',
      () => connection.end().endsWith('{"data":{"viewer":{"tenantId":"dev"}}}') || null,
    )
  })

  it('is held over a WebSocket as well, until it is taken', async () => {
    const { url, logged } = await withArtifacts()
    const client = await openSocket(url)
    await client.init()
    client.socket.pause()
    client.send({ id: 'o', type: 'subscribe', payload: LARGE })
    await until(20_000, 'the operation', () => logged.some(({ message }) => message === 'operation') || null)
    expect(await held(url)).toBeGreaterThan(2 * COUNT * MB)
    client.socket.resume()
    await heldNothing(url)
    expect(codesIn({ body: client.of('o')[0]?.payload })).toEqual([])
  })

  it('leaves the same client nothing, and other tenants the rest', async () => {
    const maxHeldBytes = 40 * MB
    const { url } = await withArtifacts({ limits: { maxHeldBytes } }, ['dev', 'other'])
    const { socket } = await openRaw(url)
    socket.write(rawRequest(LARGE))
    await heldMoreThan(url, 2 * COUNT * MB)
    const refused = await post(url, { query: `mutation { ${CREATE_THREAD} }` })
    expect([refused.status, codesIn(refused)]).toEqual([503, ['SERVICE_UNAVAILABLE']])
    expect(refused.headers.get('retry-after')).toBe('1')
    expect(errorsIn(refused)[0]?.extensions['retryable']).toBe(true)
    expect(codesIn(await askOverWebSocket(url, SMALL))).toEqual(['SERVICE_UNAVAILABLE'])
    const other = { 'x-tenant': 'other' }
    expect(codesIn(await post(url, SMALL, other))).toEqual([])
    // It is ended while it is made.
    const ended = await post(url, LARGE, other)
    expect([ended.status, codesIn(ended)]).toEqual([200, ['SERVICE_UNAVAILABLE']])
    socket.destroy()
    await heldNothing(url)
    const { body } = await post(url, { query: '{ workspace(workspaceId: "w1") { headSeq } }' })
    expect(body.data.workspace.headSeq).toBe(COUNT)
    expect(codesIn(await post(url, LARGE, other))).toEqual([])
    await heldNothing(url)
  })
})

describe('what a request holds is given back', () => {
  /** A gateway whose application takes until it is told to say who may do what in `slow`. */
  const hanging = async (operationTimeout: number) => {
    const waiting: (() => void)[] = []
    const { url } = await serving({
      metrics: 'served',
      limits: { operationTimeout },
      authorize: ({ workspaceId }) =>
        workspaceId === 'w1' || new Promise((resolve) => waiting.push(() => resolve(true))),
    })
    const goOn = () => {
      for (const resolve of waiting.splice(0)) resolve()
    }
    return { url, goOn, waiting }
  }
  const text = 'x'.repeat(100_000)
  const slow = { query: '{ workspace(workspaceId: "slow") { headSeq } }', variables: { text } }
  const asked = { query: slow.query.replace('slow', 'w1'), variables: { text } }

  it('when it is answered, or refused', async () => {
    const { url } = await serving({ metrics: 'served', limits: { maxBodyBytes: 200_000 } })
    const requests = [
      [asked, {}, 200],
      [[asked, asked], {}, 413],
      [[SMALL, SMALL], {}, 200],
      ['not JSON', {}, 400],
      [{ ...asked, query: '{ nothing }' }, {}, 400],
      [
        { ...asked, query: `{ ${Array.from({ length: 300 }, (_, n) => `a${n}: viewer { tenantId }`)} }` },
        {},
        400,
      ],
      [{ ...asked, more: 1 }, {}, 400],
      [asked, { accept: 'image/png' }, 406],
      [asked, { 'x-actor-kind': 'nobody' }, 401],
      [asked, { accept: 'text/event-stream' }, 200],
    ] as const
    for (const [body, headers, status] of requests) {
      expect((await post(url, body, headers)).status).toBe(status)
      await heldNothing(url)
    }
  })

  it('when its client goes, and what is done for it is over', async () => {
    const { url, goOn, waiting } = await hanging(30_000)
    const { socket } = await openRaw(url)
    socket.write(rawRequest(slow))
    await heldMoreThan(url, text.length)
    await until(10_000, 'it to be asked', () => waiting.length === 1 || null)
    socket.destroy()
    goOn()
    await heldNothing(url)
  })

  it('when its client goes before it was sent as a whole', async () => {
    const { url } = await hanging(30_000)
    const { socket } = await openRaw(url)
    socket.write(rawRequest(asked).slice(0, 50_000))
    await heldMoreThan(url, 20_000)
    socket.destroy()
    await heldNothing(url)
  })

  it('when it took too long', async () => {
    const { url } = await hanging(500)
    expect(codesIn(await post(url, slow))).toEqual(['TIMEOUT'])
    await heldNothing(url)
    expect(codesIn(await askOverWebSocket(url, slow))).toEqual(['TIMEOUT'])
    await heldNothing(url)
  })

  it('when something is wrong here', async () => {
    const storage = new MemoryStorage()
    storage.head = () => Promise.reject(new Error('broken'))
    const { url } = await serving({ metrics: 'served', storage })
    expect(codesIn(await post(url, asked))).toEqual(['INTERNAL_SERVER_ERROR'])
    await heldNothing(url)
    expect(codesIn(await askOverWebSocket(url, asked))).toEqual(['INTERNAL_SERVER_ERROR'])
    await heldNothing(url)
  })

  it('when the stream has begun that it asked for, which holds nothing of it', async () => {
    const { url } = await serving({ metrics: 'served' })
    const query = 'subscription { events(workspaceId: "w1") { __typename } }'
    const stream = await openEventStream(url, { query, variables: { text } })
    await stream.come('its first frame', (sent) => sent.length > 0)
    await heldNothing(url)
    const socket = await openSocket(url)
    await socket.init()
    socket.send({ id: 'a', type: 'subscribe', payload: { query, variables: { text } } })
    await socket.come('its first frame', () => socket.of('a').length > 0)
    await heldNothing(url)
    stream.drop()
  })

  it('when the application has the response, where there is no connection', async () => {
    let goOn: (() => void) | undefined
    const { fetch, metrics, close } = createGateway({
      storage: new MemoryStorage(),
      resolveActor: () => CALLER,
      authorize: () =>
        new Promise((resolve) => {
          goOn = () => resolve(true)
        }),
    })
    onTestFinished(() => close())
    const headers = { 'content-type': 'application/json' }
    const request = new Request('http://g/graphql', { method: 'POST', headers, body: JSON.stringify(asked) })
    const answering = fetch(request)
    await until(10_000, 'it to be held', async () => heldIn(await metrics()) > text.length || null)
    goOn?.()
    expect((await answering).status).toBe(200)
    expect(heldIn(await metrics())).toBe(0)
  })
})
