/** Subscriptions over Server-Sent Events. */
import { describe, expect, it } from 'vitest'
import { MemoryStorage } from '../../../src/storage/memory.js'
import { openBufferingProxy } from '../../support/bufferingProxy.js'
import { EVENTS, follow } from '../../support/eventStreams.js'
import { post, until } from '../../support/gateway.js'
import { createThread, postMany, postMessage } from '../../support/posts.js'
import { serving } from '../../support/serving.js'

describe('a stream', () => {
  it.each(['GET', 'POST'] as const)('is asked for with %s, and sends events with ids', async (method) => {
    const { url } = await serving()
    await createThread(url)
    const client = await follow(url, { method })
    await client.come('the replay', (sent) => sent.length === 2)
    await postMessage(url, 'hello')
    await client.comeTo(2)
    expect(client.comments).toBe(1)
    expect(client.sent).toEqual([
      {
        event: 'next',
        id: '1',
        data: {
          data: {
            events: {
              __typename: 'Envelope',
              seq: 1,
              event: { __typename: 'ThreadCreatedEvent', type: 'thread_created' },
            },
          },
        },
      },
      { event: 'next', id: '1', data: { data: { events: { __typename: 'ReplayComplete', upToSeq: 1 } } } },
      { event: 'next', id: '2', data: expect.anything() },
    ])
  })

  it.each(['application/json', 'application/graphql-response+json', 'multipart/mixed'])(
    'is not begun for who accepts %s alone, who is told what to accept',
    async (accept) => {
      let followed = 0
      class Storage extends MemoryStorage {
        override head(...given: Parameters<MemoryStorage['head']>) {
          followed++
          return super.head(...given)
        }
      }
      const { url, logged } = await serving({ storage: new Storage() })
      const variables = { workspaceId: 'w1' }
      const { status, headers, body } = await post(url, { query: EVENTS, variables }, { accept })
      expect([status, headers.get('content-type')?.replace(accept, 'application/json')]).toEqual([
        406,
        'application/json; charset=utf-8',
      ])
      expect(body).toEqual({
        errors: [
          {
            message:
              'A subscription is answered with a stream: accept text/event-stream, or use a WebSocket.',
            extensions: { code: 'NOT_ACCEPTABLE' },
          },
        ],
      })
      expect(followed).toBe(0)
      expect(logged.filter(({ message }) => message === 'stream began')).toEqual([])
    },
  )

  it('has ids whatever the client selects', async () => {
    const { url } = await serving()
    await createThread(url)
    const query = 'subscription { events(workspaceId: "w1", afterSeq: 0) { __typename } }'
    const client = await follow(url, { query })
    await client.come('the replay', (sent) => sent.length === 2)
    await postMessage(url)
    await client.come('the message', (sent) => sent.length === 3)
    expect(client.sent.map(({ id }) => id)).toEqual(['1', '1', '2'])
  })

  it('is neither to be stored, changed nor held back on its way', async () => {
    const { url } = await serving()
    const { response } = await follow(url)
    expect(response.statusCode).toBe(200)
    expect(response.headers).toMatchObject({
      'content-type': 'text/event-stream; charset=utf-8',
      'cache-control': 'no-cache, no-transform',
      'x-accel-buffering': 'no',
    })
    expect(response.headers['content-encoding']).toBeUndefined()
  })

  it('comes through a proxy that compresses and holds back what it may', async () => {
    const { url } = await serving()
    const proxy = await openBufferingProxy(url)
    await createThread(proxy.url)
    expect(proxy).toMatchObject({ held: 1, compressed: 1 })
    const client = await follow(proxy.url, { headers: { 'accept-encoding': 'gzip, br' } })
    await client.comeTo(1)
    await postMessage(url)
    await client.comeTo(2)
    expect(proxy).toMatchObject({ held: 1, compressed: 1 })
  })

  it('is kept alive by comments while nothing happens', async () => {
    const { url } = await serving({ streams: { pingEvery: 20 } })
    const client = await follow(url)
    await until(20_000, 'five comments', () => (client.comments >= 5 ? true : null))
    await createThread(url)
    await client.comeTo(1)
  })

  it('is answered to whoever has the gateway answer requests of Fetch', async () => {
    const { createGateway, insecureHeaderAuth, MemoryStorage } = await import('../../../src/index.js')
    const gateway = createGateway({ storage: new MemoryStorage(), resolveActor: insecureHeaderAuth })
    const response = await gateway.fetch(
      new Request('http://gateway/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query: EVENTS, variables: { workspaceId: 'w1', afterSeq: 0 } }),
      }),
    )
    const decoder = new TextDecoder()
    let text = ''
    const reading = (async () => {
      for await (const chunk of response.body ?? []) text += decoder.decode(chunk, { stream: true })
    })()
    await until(20_000, 'the replay', () => (text.includes('ReplayComplete') ? true : null))
    await gateway.close()
    await reading
    expect(text.endsWith('event: complete\ndata:\n\n')).toBe(true)
  })
})

describe('a reader that comes back', () => {
  it('goes on after the id it saw last, wherever it began', async () => {
    const { url } = await serving()
    await createThread(url)
    await postMany(url, 5)
    const first = await follow(url)
    await first.comeTo(3)
    first.drop()
    const again = await follow(url, { headers: { 'last-event-id': '3' } })
    await again.comeTo(6)
    expect(again.seqs).toEqual([4, 5, 6])
  })

  it('misses nothing though no event had come to it, since every frame has an id', async () => {
    const { url } = await serving()
    await createThread(url)
    const first = await follow(url, { variables: { afterSeq: null } })
    await first.come('a frame', (sent) => sent.length > 0)
    first.drop()
    await postMessage(url)
    const again = await follow(url, {
      variables: { afterSeq: null },
      headers: { 'last-event-id': first.sent.at(-1)?.id ?? '' },
    })
    await again.comeTo(2)
    expect(again.seqs).toEqual([2])
  })

  it('is told that the log is another, and starts over with an id of the new one', async () => {
    const { url } = await serving()
    await createThread(url)
    const client = await follow(url, { headers: { 'last-event-id': '99' } })
    await client.comeTo(1)
    expect(client.sent[0]).toEqual({
      event: 'next',
      id: '0',
      data: { data: { events: { __typename: 'LogReset', headSeq: 1 } } },
    })
  })
})

describe('a stream that is refused', () => {
  it('answers 401 to bad credentials', async () => {
    const { url } = await serving()
    const client = await follow(url, { headers: { 'x-actor-kind': 'nobody' } })
    expect(client.response.statusCode).toBe(401)
    await until(20_000, 'the end', () => client.isOver || null)
    expect(client.failure()).toEqual({ code: 'UNAUTHENTICATED' })
  })

  it.each([
    ['FORBIDDEN', { workspaceId: 'shut' }, undefined],
    ['BAD_USER_INPUT', { threadIds: ['\n'] }, 'threadIds.0'],
    ['BAD_USER_INPUT', { workspaceId: '' }, 'workspaceId'],
  ])('says %s in one event, and is complete', async (code, variables, argument) => {
    const { url } = await serving({ authorize: ({ workspaceId }) => workspaceId !== 'shut' })
    const client = await follow(url, { variables })
    await until(20_000, 'the end', () => client.isOver || null)
    expect(client.sent.map(({ event }) => event)).toEqual(['next', 'complete'])
    expect(client.failure()).toMatchObject(argument === undefined ? { code } : { code, argument })
  })

  it('says what is wrong with its document, and nothing of HTTP', async () => {
    const { url } = await serving()
    const client = await follow(url, { query: 'subscription { nothing }' })
    await until(20_000, 'the end', () => client.isOver || null)
    expect(client.failure()).toEqual({ code: 'GRAPHQL_VALIDATION_FAILED' })
  })

  it('is not confused with data for clients that take no stream', async () => {
    const { url } = await serving()
    const { status } = await post(
      url,
      { query: EVENTS, variables: { workspaceId: 'w1' } },
      {
        accept: 'application/json',
      },
    )
    expect(status).toBe(406)
  })
})

describe('a running stream', () => {
  it('ends with FORBIDDEN once its caller may no longer use the workspace; others go on', async () => {
    let allowed = true
    const { url } = await serving({
      authorize: ({ actor }) => allowed || (actor.kind === 'user' && actor.id !== 'ann'),
      streams: { recheckEvery: 20 },
    })
    await createThread(url)
    const ann = await follow(url, { headers: { 'x-user': 'ann' } })
    const bob = await follow(url, { headers: { 'x-user': 'bob' } })
    await ann.comeTo(1)
    allowed = false
    await until(20_000, 'the end', () => ann.isOver || null)
    expect(ann.failure()).toMatchObject({ code: 'FORBIDDEN' })
    expect(ann.sent.at(-1)?.event).toBe('complete')
    await postMessage(url, 'secret', { headers: { 'x-user': 'bob' } })
    await bob.comeTo(2)
    expect(ann.seqs).toEqual([1])
  })

  it('ends with TOKEN_EXPIRED when the credentials expire', async () => {
    let expiresAt = 0
    const { url } = await serving({
      resolveActor: () => {
        expiresAt = Date.now() + 300
        return { tenantId: 'acme', actor: { kind: 'user', id: 'ann' }, expiresAt }
      },
    })
    const client = await follow(url)
    await client.come('the end', () => client.isOver)
    expect(client.failure()).toMatchObject({ code: 'TOKEN_EXPIRED', retryable: true })
    expect(Date.now()).toBeGreaterThanOrEqual(expiresAt)
  })

  it('is freed when its reader goes away', async () => {
    const { url, logged } = await serving()
    await createThread(url)
    const client = await follow(url)
    await client.comeTo(1)
    client.drop()
    await until(20_000, 'the stream to end', () =>
      logged.some(({ fields }) => fields['ending'] === 'dropped') ? true : null,
    )
  })
})
