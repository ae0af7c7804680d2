/** Tokens that are verified with the keys of an issuer, which are fetched, kept, and change. */
import { createHmac } from 'node:crypto'
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { jwtAuth } from '../../../src/http/identity/jwt.js'
import type { KeySetOptions } from '../../../src/index.js'
import { openEventStream } from '../../support/eventStreams.js'
import { type Answer, post, startGateway, until } from '../../support/gateway.js'
import { serve } from '../../support/serving.js'
import { openSocket } from '../../support/sockets.js'
import {
  AUDIENCE,
  bearer,
  forgedToken,
  goodClaims,
  ISSUER,
  inSeconds,
  makeKey,
  openIssuer,
  SECRET,
  tokenWith,
} from '../../support/tokens.js'

type Key = Awaited<ReturnType<typeof makeKey>>

let first: Key
let second: Key
beforeAll(async () => {
  first = await makeKey('first')
  second = await makeKey('second')
})

const serving = async (jwksUrl: string, jwks: KeySetOptions = {}) => {
  const resolveActor = jwtAuth({ jwksUrl, issuer: ISSUER, audience: AUDIENCE, jwks })
  const served = await serve({ resolveActor })
  onTestFinished(async () => void (await served.stop()))
  const ask = (token: string): Promise<Answer> =>
    post(served.url, { query: '{ viewer { tenantId } }' }, bearer(token))
  const statusOf = async (token: string): Promise<number> => (await ask(token)).status
  return { ...served, ask, statusOf }
}

const messageOf = ({ body }: Answer) => body.errors[0].message

describe('the keys of an issuer', () => {
  it('are fetched once, by whoever comes first, and kept', async () => {
    const issuer = await openIssuer(first.jwk, second.jwk)
    const { statusOf } = await serving(issuer.jwksUrl)
    expect(issuer.asked).toBe(0)
    const tokens = await Promise.all([first, second, first, second].map((key) => key.sign()))
    expect(await Promise.all(tokens.map(statusOf))).toEqual([200, 200, 200, 200])
    expect(await Promise.all(tokens.map(statusOf))).toEqual([200, 200, 200, 200])
    expect(issuer.asked).toBe(1)
  })

  it.each(['PS256', 'ES256', 'ES512', 'EdDSA'])('may be of %s', async (alg) => {
    const key = await makeKey('k', alg)
    const { statusOf } = await serving((await openIssuer(key.jwk)).jwksUrl)
    expect(await statusOf(await key.sign())).toBe(200)
    expect(await statusOf(await first.sign({}, { kid: 'k' }))).toBe(401)
  })

  it('are fetched anew for one that is not among them, but not again and again', async () => {
    const issuer = await openIssuer(first.jwk)
    const { ask, statusOf } = await serving(issuer.jwksUrl, { cooldown: 2_000 })
    expect(await statusOf(await first.sign())).toBe(200)
    issuer.answer([second.jwk])
    const unknown = await ask(await second.sign())
    expect([unknown.status, messageOf(unknown)]).toEqual([
      401,
      'no key of the issuer is the one that the token names (kid, alg)',
    ])
    const rotated = await second.sign()
    await until(15_000, 'the rotation', async () => ((await statusOf(rotated)) === 200 ? true : null))
    expect(issuer.asked).toBe(2)
    expect(await statusOf(await first.sign())).toBe(401)
    const made = await Promise.all(
      Array.from({ length: 20 }, (_, n) => first.sign({}, { kid: `made-up-${n}` })),
    )
    expect(new Set(await Promise.all(made.map(statusOf)))).toEqual(new Set([401]))
    expect(issuer.asked).toBeLessThanOrEqual(4)
  })

  it('are fetched anew when they are old, and one that was withdrawn is no longer good', async () => {
    const issuer = await openIssuer(first.jwk, second.jwk)
    const { statusOf } = await serving(issuer.jwksUrl, { maxAge: 100, cooldown: 0 })
    const token = await second.sign()
    expect(await statusOf(token)).toBe(200)
    issuer.answer([first.jwk])
    await until(15_000, 'the withdrawal', async () => ((await statusOf(token)) === 401 ? true : null))
    expect(await statusOf(await first.sign())).toBe(200)
  })

  it('go on to count while the issuer is out of reach, for a time', async () => {
    const issuer = await openIssuer(first.jwk)
    const { statusOf } = await serving(issuer.jwksUrl, { maxAge: 0, maxStale: 5_000, cooldown: 100 })
    const token = await first.sign()
    expect(await statusOf(token)).toBe(200)
    issuer.answer(null)
    expect(await statusOf(token)).toBe(200)
    const unknown = await second.sign()
    await until(4_000, 'another attempt', async () => ((await statusOf(unknown)) === 503 ? true : null))
    expect(await statusOf(token)).toBe(200)
    await until(15_000, 'the end of their time', async () => ((await statusOf(token)) === 503 ? true : null))
    issuer.answer([first.jwk])
    await until(15_000, 'the issuer', async () => ((await statusOf(token)) === 200 ? true : null))
  })

  it('that are out of reach are nobody’s fault: the answer is to try again', async () => {
    const issuer = await openIssuer()
    issuer.answer(null)
    const { url, ask, logged } = await serving(issuer.jwksUrl, { cooldown: 50 })
    const token = await first.sign()
    const { status, headers, body } = await ask(token)
    expect([status, headers.get('retry-after')]).toEqual([503, '1'])
    expect(body.errors).toEqual([
      {
        message: 'It cannot be found out now who asks. Trying again is safe.',
        extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true, requestId: expect.any(String) },
      },
    ])
    const stream = await openEventStream(url, { headers: bearer(token) })
    expect(stream.response.statusCode).toBe(503)
    const client = await openSocket(url)
    client.send({ type: 'connection_init', payload: bearer(token) })
    expect(await client.closed).toEqual({ code: 1013, reason: 'Try again later' })
    expect(logged.filter(({ level }) => level === 'error')).toEqual([])
    expect(logged.filter(({ level }) => level === 'warn').length).toBe(3)
    issuer.answer([first.jwk])
    await until(15_000, 'the issuer', async () => ((await ask(token)).status === 200 ? true : null))
  })

  it.each<[string, string]>([
    ['no JSON', '<html>'],
    ['no keys', '{"keys":{}}'],
    ['nothing like it', '[]'],
  ])('that are %s are out of reach', async (_, answer) => {
    const issuer = await openIssuer()
    issuer.answer(answer)
    expect(await (await serving(issuer.jwksUrl)).statusOf(await first.sign())).toBe(503)
  })

  it('that do not come in time are out of reach', async () => {
    const { createServer } = await import('node:http')
    const silent = createServer(() => undefined)
    await new Promise<void>((resolve) => silent.listen(0, '127.0.0.1', resolve))
    onTestFinished(() => {
      silent.closeAllConnections()
      silent.close()
    })
    const address = silent.address()
    const port = typeof address === 'object' ? address?.port : ''
    const { statusOf } = await serving(`http://127.0.0.1:${port}/`, { timeout: 100 })
    expect(await statusOf(await first.sign())).toBe(503)
  })

  it('are asked for by few, however many come while there are none', async () => {
    const issuer = await openIssuer()
    issuer.answer(null)
    const { statusOf } = await serving(issuer.jwksUrl)
    const token = await first.sign()
    const statuses = await Promise.all(Array.from({ length: 30 }, () => statusOf(token)))
    expect(new Set(statuses)).toEqual(new Set([503]))
    expect(issuer.asked).toBeLessThanOrEqual(3)
  })
})

describe('a token', () => {
  it.each<[string, () => Promise<string> | string, string]>([
    ['has a secret for a key', () => tokenWith(), 'an algorithm (alg) that is taken'],
    [
      'has the public key for a secret',
      () => forgedToken({ alg: 'HS256', kid: 'first' }, { secret: first.pem }),
      'an algorithm (alg) that is taken',
    ],
    [
      'has the public key for a secret, as JSON',
      () => forgedToken({ alg: 'HS256', kid: 'first' }, { secret: JSON.stringify(first.jwk) }),
      'an algorithm (alg) that is taken',
    ],
    ['is not signed', () => forgedToken({ alg: 'none', kid: 'first' }), 'an algorithm (alg) that is taken'],
    [
      'brings its own key',
      () => forgedToken({ alg: 'RS256', jwk: second.jwk, kid: 'x' }),
      'no key of the issuer',
    ],
    [
      'is signed with the wrong key',
      () => second.sign({}, { kid: 'first' }),
      'the signature of the token is wrong',
    ],
    ['names a key of another algorithm', () => signedAs('RS512'), 'no key of the issuer'],
    ['names no key of several', () => first.sign({}, {}), 'does not say (kid) which key'],
    ['has expired', () => first.sign({ exp: inSeconds(-60) }), 'the token has expired'],
    ['is from another issuer', () => first.sign({ iss: 'https://other.example' }), 'the claim iss'],
    ['is meant for another application', () => first.sign({ aud: 'other' }), 'the claim aud'],
    ['has no tenant', () => first.sign({ tenant: undefined }), 'the claim tenant is required'],
  ])('that %s is refused', async (_, made, problem) => {
    const issuer = await openIssuer(first.jwk, second.jwk)
    const answer = await (await serving(issuer.jwksUrl)).ask(await made())
    expect(answer.status).toBe(401)
    expect(messageOf(answer)).toContain(problem)
  })
})

/** Its signature is never come to. */
const signedAs = (alg: string): string => {
  const [header, claims] = [{ alg, kid: 'first' }, goodClaims()].map((part) =>
    Buffer.from(JSON.stringify(part)).toString('base64url'),
  )
  return `${header}.${claims}.${createHmac('sha256', SECRET).update('').digest('base64url')}`
}

it('the process takes an issuer from its environment', async () => {
  const issuer = await openIssuer(first.jwk)
  const env = { AUTH: 'jwt', JWT_JWKS_URL: issuer.jwksUrl, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE }
  const { url } = await startGateway(env)
  const query = '{ viewer { tenantId } }'
  expect((await post(url, { query }, bearer(await first.sign()))).body.data.viewer.tenantId).toBe('acme')
  expect((await post(url, { query }, bearer(await second.sign()))).status).toBe(401)
})
