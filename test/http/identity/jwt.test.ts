/** Who a caller is by a verified token, and who is nobody. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { jwtAuth } from '../../../src/http/identity/jwt.js'
import { openEventStream } from '../../support/eventStreams.js'
import { answerOf, post, type RunningGateway, startGateway, until } from '../../support/gateway.js'
import { createThread, postMessage } from '../../support/posts.js'
import { openSocket } from '../../support/sockets.js'
import {
  AUDIENCE,
  bearer,
  forgedToken,
  goodClaims,
  ISSUER,
  inSeconds,
  makeKey,
  SECRET,
  tokenWith,
} from '../../support/tokens.js'

const VIEWER = `{ viewer { tenantId actor { __typename displayName
  ... on UserActor { userId } ... on ExternalAgentActor { clientId } ... on EvaluatorActor { version } } } }`

let gateway: RunningGateway
beforeAll(async () => {
  const env = {
    AUTH: 'jwt',
    JWT_SECRET: SECRET,
    JWT_ISSUER: ISSUER,
    JWT_AUDIENCE: AUDIENCE,
    AGENT: 'none',
    INTROSPECTION: '1',
  }
  gateway = await startGateway(env)
})
afterAll(() => gateway?.kill())

const viewerWith = (headers: Record<string, string>) => post(gateway.url, { query: VIEWER }, headers)

describe('a token', () => {
  it.each<[string, Record<string, unknown>, object]>([
    ['makes a user', {}, { __typename: 'UserActor', userId: 'ann', displayName: 'ann' }],
    ['names them', { name: 'Ann Ä 🦊' }, { __typename: 'UserActor', userId: 'ann', displayName: 'Ann Ä 🦊' }],
    ['makes a user that it calls one', { actor_kind: 'user' }, { __typename: 'UserActor', userId: 'ann' }],
    [
      'makes an agent',
      { actor_kind: 'external_agent' },
      { __typename: 'ExternalAgentActor', clientId: 'ann' },
    ],
    [
      'makes the system',
      { actor_kind: 'system', sub: 'cron' },
      { __typename: 'SystemActor', displayName: 'cron' },
    ],
    [
      'makes an evaluator',
      { actor_kind: 'evaluator', sub: 'judge', actor_version: '2' },
      { __typename: 'EvaluatorActor', displayName: 'judge', version: '2' },
    ],
    ['may be for others as well', { aud: ['other', AUDIENCE] }, { userId: 'ann' }],
    ['may be valid in a moment', { nbf: inSeconds(2) }, { userId: 'ann' }],
    ['may have claims that are nobody’s business', { tenantId: 'other', roles: ['root'] }, { userId: 'ann' }],
    ['may have 10 kB of claims', { padding: 'x'.repeat(10_000) }, { userId: 'ann' }],
  ])('%s', async (_, claims, actor) => {
    const { status, body } = await viewerWith(bearer(await tokenWith(claims)))
    expect(status).toBe(200)
    expect(body.data.viewer).toMatchObject({ tenantId: 'acme', actor })
  })

  it('may have just expired, since clocks differ', async () => {
    expect((await viewerWith(bearer(await tokenWith({ exp: inSeconds(-1) })))).status).toBe(200)
  })

  it('is read whatever the case of its scheme', async () => {
    const token = await tokenWith()
    for (const scheme of ['bearer', 'BEARER']) {
      expect((await viewerWith({ authorization: `${scheme} ${token}` })).status).toBe(200)
    }
  })

  it.each<[string, Record<string, unknown>, string]>([
    ['has expired', { exp: inSeconds(-6) }, 'the token has expired'],
    ['does not expire', { exp: undefined }, 'the claim exp is required'],
    ['expires at no time', { exp: 'tomorrow' }, 'the claim exp must be a number'],
    ['expires after the end of dates', { exp: 1e300 }, 'the claim exp must be a time'],
    ['is not valid yet', { nbf: inSeconds(600) }, 'the token is not valid yet'],
    ['is from another issuer', { iss: 'https://other.example' }, 'the claim iss names another'],
    ['is from nobody', { iss: undefined }, 'the claim iss is required'],
    ['is for another audience', { aud: 'other' }, 'the claim aud names another'],
    ['is for nobody', { aud: undefined }, 'the claim aud is required'],
    ['has no tenant', { tenant: undefined }, 'the claim tenant is required'],
    ['has an empty tenant', { tenant: '' }, 'the claim tenant must not be empty'],
    ['has a tenant that is no string', { tenant: ['acme'] }, 'the claim tenant must be a string'],
    ['has a tenant that is null', { tenant: null }, 'the claim tenant must be a string'],
    [
      'has a tenant that is too long',
      { tenant: 'x'.repeat(256) },
      'the claim tenant must have at most 255 bytes',
    ],
    [
      'has a tenant of control characters',
      { tenant: 'a\n' },
      'the claim tenant must not hold control characters',
    ],
    ['has no subject', { sub: undefined }, 'the claim sub is required'],
    ['has a subject that is a number', { sub: 7 }, 'the claim sub must be a string'],
    [
      'has a subject that is half a character',
      { sub: '\ud800' },
      'the claim sub must be well-formed Unicode',
    ],
    ['has an empty name', { name: '' }, 'the claim name must not be empty'],
    ['has a name that is none', { name: { first: 'Ann' } }, 'the claim name must be a string'],
    ['claims to be the agent of a thread', { actor_kind: 'agent' }, 'the claim actor_kind must be'],
    ['claims to be something else', { actor_kind: 'root' }, 'the claim actor_kind must be'],
    ['claims to be nothing', { actor_kind: null }, 'the claim actor_kind must be'],
    ['is of an evaluator of no version', { actor_kind: 'evaluator' }, 'the claim actor_version is required'],
    ['is good for workspaces that are no list', { workspaces: 'w1' }, 'the claim workspaces must be a list'],
    ['is good for workspaces that are nothing', { workspaces: null }, 'the claim workspaces must be a list'],
    [
      'is good for what is no workspace',
      { workspaces: ['w1', ''] },
      'the claim workspaces.1 must not be empty',
    ],
  ])('that %s is refused', async (_, claims, problem) => {
    await expectRefused(bearer(await tokenWith(claims)), problem)
  })

  it.each<[string, (good: string) => string | Promise<string>, string]>([
    [
      'is signed with another secret',
      () => tokenWith({}, `${SECRET}.`),
      'the signature of the token is wrong',
    ],
    ['is not signed', () => forgedToken({ alg: 'none' }), 'not signed with an algorithm (alg)'],
    ['calls its algorithm None', () => forgedToken({ alg: 'None' }), 'not signed with an algorithm (alg)'],
    [
      'is signed with a key pair',
      async () => (await makeKey('k')).sign(),
      'not signed with an algorithm (alg)',
    ],
    [
      'names a longer algorithm',
      () => forgedToken({ alg: 'HS512' }, { secret: SECRET }),
      'an algorithm (alg)',
    ],
    ['names no algorithm', () => forgedToken({}, { secret: SECRET }), 'the token is no JWT'],
    [
      'has extensions that are not known',
      () => forgedToken({ alg: 'HS256', crit: ['x'], x: 1 }, { secret: SECRET }),
      'the token has extensions (crit)',
    ],
    [
      'was changed',
      (good) => good.replace(/\.[^.]+\./, (claims) => `${claims.slice(0, -2)}A.`),
      'the signature',
    ],
    ['has lost its signature', (good) => good.replace(/[^.]+$/, ''), 'the signature of the token is wrong'],
    ['is cut off', (good) => good.split('.').slice(0, 2).join('.'), 'the token is no JWT'],
    ['is of five parts', (good) => `${good}.a.b`, 'the token is no JWT'],
    ['is garbage', () => 'garbage', 'the token is no JWT'],
    ['is dots', () => '..', 'the token is no JWT'],
    ['has spaces', (good) => `${good} ${good}`, 'the token is no JWT'],
    ['is beside another one', (good) => `${good}, Bearer ${good}`, 'the token is no JWT'],
  ])('that %s is refused', async (_, made, problem) => {
    await expectRefused(bearer(await made(await tokenWith())), problem)
  })

  it.each<[string, Record<string, string>]>([
    ['nothing', {}],
    ['another scheme', { authorization: 'Basic YW5uOmFubg==' }],
    ['a scheme without a token', { authorization: 'Bearer' }],
    ['a token without a scheme', { authorization: 'eyJhbGciOiJIUzI1NiJ9.e30.x' }],
    ['headers that say who it is', { 'x-tenant': 'acme', 'x-user': 'ann' }],
  ])('is asked for where there is %s', async (_, headers) => {
    for (const accept of ['*/*', 'application/json', 'application/graphql-response+json']) {
      const { status, headers: answered, body } = await viewerWith({ accept, ...headers })
      expect(status).toBe(401)
      expect(answered.get('www-authenticate')).toBe('Bearer')
      expect(body.errors).toEqual([
        {
          message: 'credentials are required: Authorization: Bearer, and a token',
          extensions: { code: 'UNAUTHENTICATED' },
        },
      ])
    }
  })

  it('is none of two', async () => {
    const { request } = await import('node:http')
    const token = await tokenWith()
    const status = await new Promise((resolve, reject) => {
      const headers = ['authorization', `Bearer ${token}`, 'authorization', 'Basic YTph', 'host', 'localhost']
      request(`${gateway.url}/graphql?query={__typename}`, { headers }, (response) => {
        response.resume()
        resolve(response.statusCode)
      })
        .on('error', reject)
        .end()
    })
    expect(status).toBe(401)
  })

  it('that is longer than Node reads is refused by Node', async () => {
    const token = await tokenWith({ padding: 'x'.repeat(20_000) })
    const { status } = await fetch(`${gateway.url}/graphql`, { headers: bearer(token) })
    expect(status).toBe(431)
  })
})

/** Over HTTP, where the answer says how to come back and repeats nothing of the token. */
const expectRefused = async (headers: { authorization: string }, problem: string) => {
  const { status, headers: answered, body } = await viewerWith(headers)
  expect(status).toBe(401)
  const [{ message, extensions }] = body.errors
  expect(message).toContain(problem)
  expect(extensions).toEqual({ code: 'UNAUTHENTICATED' })
  expect(answered.get('www-authenticate')).toBe(
    `Bearer error="invalid_token", error_description="${message}"`,
  )
  const [, token = ''] = headers.authorization.split(' ')
  for (const part of token.split('.').filter(({ length }) => length > 5)) {
    expect(JSON.stringify(body)).not.toContain(part)
    expect(gateway.output()).not.toContain(part)
  }
}

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
    const exp = inSeconds(-1)
    const headers = bearer(await tokenWith({ exp }))
    const client = await openSocket(gateway.url)
    await client.init(headers)
    client.subscribe('a')
    const stream = await openEventStream(gateway.url, { headers })
    const { payload } = await client.over('a')
    expect(payload[0].extensions).toEqual({ code: 'TOKEN_EXPIRED', retryable: true })
    await until(5_000, 'the end', () => stream.isOver || null)
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
