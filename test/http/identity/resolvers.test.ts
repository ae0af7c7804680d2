/** An application's own `resolveActor` and `authorize`, when they fail: nobody is let in by that, and everybody is told something. */
import { describe, expect, it } from 'vitest'
import { IdentityUnavailable, Unauthenticated } from '../../../src/http/identity/auth.js'
import { openEventStream } from '../../support/eventStreams.js'
import { post, until } from '../../support/gateway.js'
import { createThread } from '../../support/posts.js'
import { serving } from '../../support/serving.js'
import { openSocket } from '../../support/sockets.js'

const query = '{ viewer { tenantId } }'
const ann = { tenantId: 'acme', actor: { kind: 'user', id: 'ann' } } as const

/** The status and code of a query and of a stream of events, and what a WebSocket is closed with. */
const endsOf = async (url: string) => {
  const { status, body } = await post(url, { query })
  const stream = await openEventStream(url)
  await stream.come('the error', (sent) => sent.length > 0)
  const client = await openSocket(url)
  client.send({ type: 'connection_init' })
  const { code } = await client.closed
  return [
    [status, body.errors[0].extensions.code],
    [stream.response.statusCode, stream.failure()?.code],
    code,
  ]
}

const UNAUTHENTICATED = [[401, 'UNAUTHENTICATED'], [401, 'UNAUTHENTICATED'], 4401]
const UNAVAILABLE = [[503, 'SERVICE_UNAVAILABLE'], [503, 'SERVICE_UNAVAILABLE'], 1013]
const INTERNAL = [[500, 'INTERNAL_SERVER_ERROR'], [500, 'INTERNAL_SERVER_ERROR'], 4500]

describe('a resolveActor', () => {
  it.each<[string, unknown, unknown[]]>([
    ['says that it is nobody', new Unauthenticated('who is it?'), UNAUTHENTICATED],
    ['cannot say it now', new IdentityUnavailable('sessions are down'), UNAVAILABLE],
    ['has a bug', new Error('secret detail'), INTERNAL],
    ['throws no error', 'secret', INTERNAL],
    ['throws nothing', undefined, INTERNAL],
  ])('that %s lets nobody in, whether it throws or rejects', async (_, error, ends) => {
    for (const resolveActor of [
      () => {
        throw error
      },
      () => Promise.reject(error),
    ]) {
      const { url } = await serving({ resolveActor })
      expect(await endsOf(url)).toEqual(ends)
    }
  })

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['null', null],
    ['a text', 'ann'],
    ['no actor', { tenantId: 'acme' }],
    ['no tenant', { actor: ann.actor }],
    ['an actor that is none', { tenantId: 'acme', actor: { kind: 'root', id: 'ann' } }],
    ['an id that is none', { ...ann, tenantId: '\0' }],
    ['workspaces that are none', { ...ann, workspaces: 'w1' }],
    ['a time that is none', { ...ann, expiresAt: 'never' }],
  ])('that answers with %s lets nobody in', async (_, caller) => {
    const { url, logged } = await serving({ resolveActor: () => JSON.parse(JSON.stringify(caller ?? null)) })
    expect(await endsOf(url)).toEqual(INTERNAL)
    expect(logged.filter(({ level }) => level === 'error').length).toBeGreaterThanOrEqual(3)
  })

  it('that answers with credentials that have expired lets nobody in', async () => {
    const { url } = await serving({ resolveActor: () => ({ ...ann, expiresAt: Date.now() - 1 }) })
    expect(await endsOf(url)).toEqual(UNAUTHENTICATED)
  })

  it('says how to come back', async () => {
    const { url } = await serving({
      resolveActor: () => {
        throw new Unauthenticated('no session', { challenge: 'Session realm="a"\r\nx-evil: ä' })
      },
    })
    const { headers } = await post(url, { query })
    expect(headers.get('www-authenticate')).toBe('Session realm="a"??x-evil: ?')
    expect(headers.get('x-evil')).toBeNull()
  })

  it('is told where a request comes from, over every transport', async () => {
    const peers: unknown[] = []
    const { url } = await serving({
      resolveActor: (_, peer) => {
        peers.push(peer)
        return ann
      },
    })
    await post(url, { query })
    await openEventStream(url)
    await (await openSocket(url)).init()
    expect(peers).toEqual(Array(3).fill({ address: '127.0.0.1' }))
  })

  it('that is slow holds up nobody but its caller, and nothing is left of who goes away meanwhile', async () => {
    const waiting: (() => void)[] = []
    const { url, stop } = await serving({
      resolveActor: async ({ headers }) => {
        if (headers.get('x-slow') !== null) await new Promise<void>((resolve) => waiting.push(resolve))
        return { ...ann, expiresAt: Date.now() + 3_600_000 }
      },
    })
    const slow = post(url, { query }, { 'x-slow': '1' })
    const client = await openSocket(url, { headers: { 'x-slow': '1' } })
    client.send({ type: 'connection_init' })
    const gone = await openSocket(url, { headers: { 'x-slow': '1' } })
    gone.send({ type: 'connection_init' })
    await until(20_000, 'all three', () => (waiting.length === 3 ? true : null))
    gone.socket.terminate()
    expect((await post(url, { query })).status).toBe(200)
    expect(client.messages).toEqual([])
    for (const resolve of waiting) resolve()
    expect((await slow).status).toBe(200)
    await client.come('the acknowledgement', () => client.messages.length === 1)
    expect(await stop()).toBe(true)
  })

  it('that never answers does not keep the gateway from stopping', async () => {
    let asked = 0
    const { url, stop } = await serving({
      resolveActor: () => {
        asked++
        return new Promise<never>(() => undefined)
      },
    })
    const client = await openSocket(url)
    client.send({ type: 'connection_init' })
    await until(20_000, 'the question', () => (asked > 0 ? true : null))
    expect(await stop()).toBe(true)
    expect((await client.closed).code).toBe(1001)
  })
})

describe('an authorize', () => {
  const create = `mutation { createThread(input: { workspaceId: "w1" }) { __typename ... on Rejection { code } } }`

  it.each<[string, unknown]>([
    ['nothing', undefined],
    ['a text', 'no'],
    ['one', 1],
    ['an object', { allowed: false }],
    ['false', false],
  ])('that answers with %s allows nothing', async (_, answer) => {
    const { url } = await serving({ authorize: () => JSON.parse(JSON.stringify(answer ?? null)) })
    const { body } = await post(url, { query: create })
    expect(body.data.createThread).toEqual({ __typename: 'Forbidden', code: 'FORBIDDEN' })
    const stream = await openEventStream(url)
    await stream.come('the refusal', (sent) => sent.length > 0)
    expect(stream.failure()).toMatchObject({ code: 'FORBIDDEN' })
  })

  it.each<[string, () => never | Promise<never>]>([
    [
      'throws',
      () => {
        throw new Error('secret detail')
      },
    ],
    ['rejects', () => Promise.reject(new Error('secret detail'))],
  ])('that %s allows nothing, and is a bug', async (_, authorize) => {
    const { url, storage, logged } = await serving({ authorize })
    const answers = [
      (await post(url, { query: create })).body,
      (await post(url, { query: '{ workspace(workspaceId: "w1") { headSeq } }' })).body,
    ]
    for (const { data, errors } of answers) {
      expect(data).toBeNull()
      expect(errors[0].extensions.code).toBe('INTERNAL_SERVER_ERROR')
    }
    const stream = await openEventStream(url)
    await stream.come('the error', (sent) => sent.length > 0)
    expect(stream.failure()).toMatchObject({ code: 'INTERNAL_SERVER_ERROR' })
    const client = await openSocket(url)
    await client.init()
    for (const [id, operation] of [
      ['a', {}],
      ['m', { query: create }],
    ] as const) {
      client.subscribe(id, operation)
      await client.over(id)
      expect(client.of(id)[0]?.payload.errors[0].extensions.code).toBe('INTERNAL_SERVER_ERROR')
    }
    expect(JSON.stringify([answers, client.messages])).not.toContain('secret')
    expect(logged.filter(({ level }) => level === 'error').length).toBeGreaterThanOrEqual(5)
    expect(await storage.head({ tenantId: 'dev', workspaceId: 'w1' })).toBe(0)
  })

  it('is not asked of a workspace that the credentials are not good for', async () => {
    const asked: string[] = []
    const { url } = await serving({
      resolveActor: () => ({ ...ann, workspaces: ['w2'] }),
      authorize: ({ workspaceId }) => {
        asked.push(workspaceId)
        return true
      },
    })
    const { body } = await post(url, { query: create })
    expect(body.data.createThread).toEqual({ __typename: 'Forbidden', code: 'FORBIDDEN' })
    expect(asked).toEqual([])
    await createThread(url, 't1', 'w2')
    expect(asked).toEqual(['w2'])
  })

  it('that no longer answers ends what it was to allow on', async () => {
    let asked = 0
    let silent = false
    const { url } = await serving({
      authorize: () => {
        asked++
        return silent ? new Promise<boolean>(() => undefined) : true
      },
      streams: { recheckEvery: 30 },
    })
    await createThread(url)
    const stream = await openEventStream(url)
    await stream.comeTo(1)
    await until(20_000, 'three more questions', () => (asked > 4 ? true : null))
    expect(stream.isOver).toBe(false)
    silent = true
    await until(20_000, 'the end', () => stream.isOver || null)
    expect(stream.failure()).toEqual({ code: 'SERVICE_UNAVAILABLE', retryable: true })
  })
})
