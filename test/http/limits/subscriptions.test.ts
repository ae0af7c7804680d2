/** How many subscriptions a tenant and an actor may have at once, and that each is counted no longer than it lasts. */
import { describe, expect, it } from 'vitest'
import type { Actor } from '../../../src/core/actors.js'
import { released, Subscriptions } from '../../../src/http/limits/subscriptions.js'
import { EVENTS, openEventStream } from '../../support/eventStreams.js'
import { post, until } from '../../support/gateway.js'
import { codesIn } from '../../support/limits.js'
import { createThread } from '../../support/posts.js'
import { serving } from '../../support/serving.js'
import { openSocket } from '../../support/sockets.js'

const limited = { limits: { maxSubscriptionsPerActor: 2, maxSubscriptionsPerTenant: 3 } }

const following = async (url: string, user = 'ada', tenant = 'acme') => {
  const stream = await openEventStream(url, { headers: { 'x-user': user, 'x-tenant': tenant } })
  await stream.come('an answer', (sent) => sent.length > 0)
  return stream
}

/** Opens one once there is room for it. */
const roomIn = (url: string, user = 'ada') =>
  until(15_000, 'room', async () => {
    const stream = await following(url, user)
    if (stream.sent[0]?.data.errors === undefined) return stream
    stream.drop()
    return null
  })

describe('the count', () => {
  const actor: Actor = { kind: 'user', id: 'ada' }

  it('ends once, however often that is said', () => {
    const subscriptions = new Subscriptions({ maxSubscriptionsPerActor: 2, maxSubscriptionsPerTenant: 9 })
    const begin = () => subscriptions.begin({ tenantId: 'acme', actor })
    const end = begin()
    begin()
    end()
    end()
    begin()
    expect(begin).toThrow('2 subscriptions')
  })

  it('is of a tenant and of an actor, and no name can pass for another', () => {
    const subscriptions = new Subscriptions({ maxSubscriptionsPerActor: 1, maxSubscriptionsPerTenant: 2 })
    const begin = (tenantId: string, id: string) =>
      subscriptions.begin({ tenantId, actor: { kind: 'user', id } })
    begin('acme', 'ada')
    expect(() => begin('acme', 'ada')).toThrow('This caller has 1')
    begin('acme', 'bob')
    expect(() => begin('acme', 'cleo')).toThrow('This tenant has 2')
    begin('acme","user:', 'ada')
  })
})

describe('a stream', () => {
  const streamOf = (next: () => Promise<IteratorResult<number>>) => {
    const steps: string[] = []
    const source: AsyncIterable<number> = {
      [Symbol.asyncIterator]: () => ({
        next,
        return: async () => {
          steps.push('returned')
          return { done: true, value: undefined }
        },
      }),
    }
    return { steps, stream: released(source, () => steps.push('released')) }
  }

  it('tells of its end as it comes: by itself, by an error, or by its reader', async () => {
    const over = streamOf(async () => ({ done: true, value: undefined }))
    await over.stream.next()
    expect(over.steps).toEqual(['released'])
    const failing = streamOf(async () => {
      throw new Error('broken')
    })
    await expect(failing.stream.next()).rejects.toThrow('broken')
    expect(failing.steps).toEqual(['released'])
    const dropped = streamOf(async () => ({ done: false, value: 1 }))
    await dropped.stream.next()
    expect(dropped.steps).toEqual([])
    await dropped.stream.return?.()
    expect(dropped.steps).toEqual(['released', 'returned'])
  })
})

describe('a subscription too many', () => {
  it('is refused over SSE with 429, and another actor’s is not', async () => {
    const { url } = await serving(limited)
    const streams = [await following(url), await following(url)]
    const third = await openEventStream(url, { headers: { 'x-user': 'ada', 'x-tenant': 'acme' } })
    await third.come('the end', () => third.isOver)
    expect(third.response.statusCode).toBe(429)
    expect(third.failure()).toMatchObject({ code: 'TOO_MANY_SUBSCRIPTIONS', retryable: true })
    streams.push(await following(url, 'bob'))
    const ofTenant = await following(url, 'cleo')
    expect(ofTenant.failure()).toMatchObject({ code: 'TOO_MANY_SUBSCRIPTIONS' })
    streams.push(await following(url, 'ada', 'globex'))
    expect(streams.map((stream) => stream.failure())).toEqual([undefined, undefined, undefined, undefined])
  })

  it('is refused over a WebSocket, which counts with the others, and stays open', async () => {
    const { url } = await serving(limited)
    await createThread(url, 't1', 'w1', { 'x-tenant': 'acme' })
    await following(url)
    const client = await openSocket(url)
    await client.init({ 'x-user': 'ada', 'x-tenant': 'acme' })
    client.subscribe('a')
    await client.come('an event', () => client.of('a').length > 0)
    client.subscribe('b')
    await client.over('b')
    expect(codesIn({ body: client.of('b')[0]?.payload })).toEqual(['TOO_MANY_SUBSCRIPTIONS'])
    client.send({ id: 'a', type: 'complete' })
    await roomIn(url)
  })
})

describe('a subscription is counted no more', () => {
  const headers = { 'x-user': 'ada', 'x-tenant': 'acme' }

  it('when its reader goes away, however often that happens', async () => {
    const { url } = await serving(limited)
    for (let count = 0; count < 10; count++) {
      const streams = [await roomIn(url), await roomIn(url)]
      for (const stream of streams) stream.drop()
    }
    const client = await openSocket(url)
    await client.init(headers)
    const other = await roomIn(url)
    let tries = 0
    await until(15_000, 'room', async () => {
      const id = `x${tries++}`
      client.subscribe(id)
      await client.come('an answer', () => client.of(id).length > 0)
      return client.of(id)[0]?.payload.errors === undefined ? true : null
    })
    client.socket.terminate()
    other.drop()
    await roomIn(url)
    await roomIn(url)
  })

  it('when it fails to begin, or is answered where no stream can be', async () => {
    const { url } = await serving({ ...limited, authorize: ({ workspaceId }) => workspaceId !== 'shut' })
    for (let count = 0; count < 5; count++) {
      const refused = await post(url, { query: EVENTS, variables: { workspaceId: 'shut' } }, headers)
      expect(codesIn(refused)).toEqual(['FORBIDDEN'])
      const noStream = { ...headers, accept: 'application/json' }
      expect((await post(url, { query: EVENTS, variables: { workspaceId: 'w1' } }, noStream)).status).toBe(
        406,
      )
    }
    await roomIn(url)
    await roomIn(url)
  })

  it('when it ends by itself, or with an error', async () => {
    let allowed = true
    const { url } = await serving({
      ...limited,
      streams: { recheckEvery: 20 },
      authorize: ({ workspaceId }) => workspaceId !== 'w1' || allowed,
    })
    const streams = [await following(url), await following(url)]
    allowed = false
    for (const stream of streams) await stream.come('the end', () => stream.isOver)
    expect(streams.map((stream) => stream.failure()?.code)).toEqual(['FORBIDDEN', 'FORBIDDEN'])
    allowed = true
    await roomIn(url)
    await roomIn(url)
  })
})
