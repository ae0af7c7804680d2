/** What a verified token is good for, over every transport. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jwtAuth } from '../../../src/http/identity/jwt.js'
import { openEventStream } from '../../support/eventStreams.js'
import { answerOf, post, type RunningGateway, startGateway, until } from '../../support/gateway.js'
import { createThread, postMessage } from '../../support/posts.js'
import { openSocket } from '../../support/sockets.js'
import {
  bearer,
  forgedToken,
  goodClaims,
  inSeconds,
  SECRET,
  TOKENS_TAKEN,
  tokenWith,
  VIEWER,
} from '../../support/tokens.js'

let gateway: RunningGateway
beforeAll(async () => {
  gateway = await startGateway({ ...TOKENS_TAKEN, AGENT: 'none', INTROSPECTION: '1' })
})
afterAll(() => gateway?.kill())

describe('over every transport', () => {
  it('a stream of events has the same refusal', async () => {
    for (const method of ['GET', 'POST'] as const) {
      const headers = bearer(await tokenWith({ exp: inSeconds(-60) }))
      const { response, come, failure } = await openEventStream(gateway.url, { method, headers })
      expect(response.statusCode).toBe(401)
      expect(response.headers['www-authenticate']).toMatch(/^Bearer error="invalid_token"/)
      await come('the refusal', (sent) => sent.length > 0)
      expect(failure()).toEqual({ code: 'UNAUTHENTICATED' })
    }
  })

  it.each<[string, () => Promise<object | undefined>, string]>([
    ['nothing', async () => undefined, 'credentials are required: Authorization: Bearer, and a token'],
    ['garbage', async () => bearer('garbage'), 'the token is no JWT'],
    [
      'an expired token',
      async () => bearer(await tokenWith({ exp: inSeconds(-60) })),
      'the token has expired',
    ],
    [
      'no signature',
      async () => bearer(forgedToken({ alg: 'none' })),
      'the token is not signed with an algorithm (alg) that is taken here',
    ],
    [
      'no tenant',
      async () => ({ headers: bearer(await tokenWith({ tenant: undefined })) }),
      'the claim tenant is required',
    ],
  ])('a WebSocket is closed for %s', async (_, payload, reason) => {
    const client = await openSocket(gateway.url)
    client.send({ type: 'connection_init', payload: await payload() })
    expect(await client.closed).toEqual({ code: 4401, reason })
  })

  it('a WebSocket has its token in its first message or in its upgrade', async () => {
    const headers = bearer(await tokenWith({ sub: 'bob' }))
    for (const [upgrade, payload] of [
      [{}, headers],
      [{}, { Authorization: headers.authorization }],
      [headers, undefined],
      [headers, bearer(await tokenWith({ sub: 'eve' }))],
    ] as const) {
      const client = await openSocket(gateway.url, { headers: upgrade })
      await client.init(payload)
      client.subscribe('q', { query: VIEWER })
      await client.over('q')
      expect(client.of('q')[0]?.payload.data.viewer.actor.userId).toBe('bob')
    }
  })

  it('streams end when the token does', async () => {
    const exp = inSeconds(1)
    const headers = bearer(await tokenWith({ exp }))
    const client = await openSocket(gateway.url)
    await client.init(headers)
    client.subscribe('a')
    const stream = await openEventStream(gateway.url, { headers })
    const { payload } = await client.over('a')
    expect(payload[0].extensions).toEqual({ code: 'TOKEN_EXPIRED', retryable: true })
    await until(20_000, 'the end', () => stream.isOver || null)
    expect(stream.failure()).toMatchObject({ code: 'TOKEN_EXPIRED' })
    expect(Date.now()).toBeGreaterThanOrEqual((exp + 5) * 1000)
    expect(await client.closed).toEqual({ code: 4403, reason: 'Credentials expired' })
  })
})

describe('identity', () => {
  it('is the token’s, whatever headers, first messages and variables say', async () => {
    const told = {
      'x-tenant': 'other',
      'x-user': 'eve',
      'x-actor-kind': 'system',
      'x-actor-id': 'root',
      tenant: 'other',
      sub: 'eve',
    }
    const headers = { ...told, ...bearer(await tokenWith()) }
    const query = `{ me: viewer { tenantId actor { ... on UserActor { userId } } } }`
    const { body } = await post(
      gateway.url,
      { query, extensions: { caller: told }, variables: told },
      headers,
    )
    const client = await openSocket(gateway.url)
    await client.init({ ...headers, tenantId: 'other', actor: { kind: 'system' } })
    client.subscribe('q', { query, variables: told })
    await client.over('q')
    for (const { data } of [body, client.of('q')[0]?.payload]) {
      expect(data.me).toEqual({ tenantId: 'acme', actor: { userId: 'ann' } })
    }
  })

  it('is what everything is attributed to, and no input has a field for another', async () => {
    const headers = bearer(await tokenWith({ name: 'Ann' }))
    await createThread(gateway.url, 't1', 'attributed', headers)
    await postMessage(gateway.url, 'hello', { headers, workspaceId: 'attributed' })
    const query = '{ workspace(workspaceId: "attributed") { events { actor { displayName } } } }'
    const { body } = await post(gateway.url, { query }, headers)
    expect(body.data.workspace.events.map((event: { actor: unknown }) => event.actor)).toEqual([
      { displayName: 'Ann' },
      { displayName: 'Ann' },
    ])
    const schema = await post(
      gateway.url,
      { query: '{ __schema { types { name inputFields { name } } } }' },
      headers,
    )
    const inputs = schema.body.data.__schema.types.flatMap(
      (type: { inputFields: { name: string }[] | null }) => type.inputFields ?? [],
    )
    expect(inputs.length).toBeGreaterThan(20)
    expect(inputs.filter(({ name }: { name: string }) => /tenant|actor|author/i.test(name))).toEqual([])
  })
})

describe('workspaces that a token is good for', () => {
  const askWith = async (workspaces: readonly string[], query: string) =>
    (await post(gateway.url, { query }, bearer(await tokenWith({ workspaces })))).body
  const create = (workspaceId: string) =>
    `mutation { createThread(input: { workspaceId: "${workspaceId}" }) { __typename ... on Rejection { code message } } }`

  it('are the only ones that it writes and reads', async () => {
    expect((await askWith(['w1', 'w2'], create('w2'))).data.createThread.__typename).toBe(
      'CreateThreadSuccess',
    )
    for (const workspaces of [['w1'], ['w', 'W2', 'w22'], []]) {
      expect((await askWith(workspaces, create('w2'))).data.createThread).toEqual({
        __typename: 'Forbidden',
        code: 'FORBIDDEN',
        message: 'workspace w2 may not be used by this caller',
      })
      const { errors } = await askWith(workspaces, '{ workspace(workspaceId: "w2") { headSeq } }')
      expect(errors[0].extensions).toEqual({ code: 'FORBIDDEN' })
    }
  })

  it('are the only ones that global ids lead to', async () => {
    await createThread(gateway.url, 't', 'w3', bearer(await tokenWith()))
    const ids = (
      await askWith(['w3'], '{ workspace(workspaceId: "w3") { id thread(threadId: "t") { id } } }')
    ).data
    for (const id of [ids.workspace.id, ids.workspace.thread.id]) {
      const query = `{ node(id: "${id}") { id } }`
      expect((await askWith(['w3'], query)).data.node).toEqual({ id })
      expect(await askWith(['w1'], query)).toEqual({ data: { node: null } })
      expect(await askWith([], query)).toEqual({ data: { node: null } })
    }
  })

  it('are the only ones that are followed', async () => {
    const headers = bearer(await tokenWith({ workspaces: ['w1'] }))
    const client = await openSocket(gateway.url)
    await client.init(headers)
    client.subscribe('a', { variables: { workspaceId: 'w2' } })
    await client.over('a')
    expect(client.of('a')[0]?.payload.errors[0].extensions).toEqual({ code: 'FORBIDDEN' })
    const stream = await openEventStream(gateway.url, { headers, variables: { workspaceId: 'w2' } })
    await stream.come('the refusal', (sent) => sent.length > 0)
    expect(stream.failure()).toEqual({ code: 'FORBIDDEN' })
  })
})

describe('jwtAuth', () => {
  const callerWith = async (token: string, options: Parameters<typeof jwtAuth>[0]) =>
    jwtAuth(options)(new Request('http://gateway/', { headers: bearer(token) }), {})

  it('checks issuer and audience with a secret only where they are given', async () => {
    const claims = { ...goodClaims(), iss: 'anyone', aud: undefined }
    const caller = await callerWith(await tokenWith(claims), { secret: SECRET })
    expect(caller).toEqual({
      tenantId: 'acme',
      actor: { kind: 'user', id: 'ann' },
      expiresAt: (claims.exp + 5) * 1000,
    })
  })

  it('lets clocks be as far apart as it is told', async () => {
    const token = await tokenWith({ exp: inSeconds(-20) })
    await expect(callerWith(token, { secret: SECRET })).rejects.toThrow('has expired')
    const { expiresAt } = await callerWith(token, { secret: SECRET, clockTolerance: 30 })
    expect(expiresAt).toBeGreaterThan(Date.now())
  })

  it.each<[string, object, string]>([
    ['neither a secret nor keys', {}, 'issuer'],
    ['both', { secret: SECRET, jwksUrl: 'https://i/keys', issuer: 'i', audience: 'a' }, 'not both'],
    ['a short secret', { secret: 'x'.repeat(31) }, 'at least 32 bytes'],
    ['keys without an issuer', { jwksUrl: 'https://i/keys', audience: 'a' }, 'an issuer and an audience'],
    [
      'keys without an audience',
      { jwksUrl: 'https://i/keys', issuer: 'i', audience: [] },
      'an issuer and an audience',
    ],
  ])('is not made of %s', (_, options, problem) => {
    expect(() => Reflect.apply(jwtAuth, undefined, [options])).toThrow(problem)
  })
})

it('answers GET as well', async () => {
  const answer = await fetch(`${gateway.url}/graphql?query={viewer{tenantId}}`, {
    headers: bearer(await tokenWith()),
  })
  expect((await answerOf(answer)).body).toEqual({ data: { viewer: { tenantId: 'acme' } } })
})
