/** Which tokens are good, and who they make their caller; what is said of the others. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { linesOf, post, type RunningGateway, startGateway } from '../../support/gateway.js'
import {
  AUDIENCE,
  bearer,
  forgedToken,
  inSeconds,
  makeKey,
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
  await linesOf(gateway, answered.get('x-request-id') ?? '')
  const [, token = ''] = headers.authorization.split(' ')
  for (const part of token.split('.').filter(({ length }) => length > 5)) {
    expect(JSON.stringify(body)).not.toContain(part)
    expect(gateway.output()).not.toContain(part)
  }
}
