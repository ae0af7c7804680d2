/** Web pages of other origins: which of them may use the gateway, and what every response says to browsers. */
import { type IncomingHttpHeaders, request } from 'node:http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createGateway, type GatewayOptions } from '../../src/app.js'
import { insecureHeaderAuth } from '../../src/http/identity/auth.js'
import type { CorsOptions } from '../../src/http/origins.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import { type RunningGateway, startGateway } from '../support/gateway.js'
import { openSocket } from '../support/sockets.js'
import { bearer, SECRET, tokenWith } from '../support/tokens.js'

const APP = 'https://app.example.com'

let gateway: RunningGateway
let host: string
beforeAll(async () => {
  gateway = await startGateway({ CORS_ORIGINS: `${APP}, http://localhost:5173`, AGENT: 'none' })
  host = new URL(gateway.url).host
})
afterAll(() => gateway?.kill())

interface Answered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: string
}

/** As a browser asks: unlike fetch, this sends whatever it is told. */
const ask = (
  headers: Record<string, string>,
  { method = 'GET', path = '/graphql?query={viewer{tenantId}}', body = '', url = gateway.url } = {},
): Promise<Answered> =>
  new Promise((resolve, reject) => {
    const asked = request(`${url}${path}`, { method, headers, agent: false }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (chunk: string) => {
        text += chunk
      })
      response.on('end', () =>
        resolve({ status: response.statusCode ?? 0, headers: response.headers, body: text }),
      )
    })
    asked.on('error', reject)
    asked.end(body)
  })

const POST = { method: 'POST', path: '/graphql', body: '{"query":"{ viewer { tenantId } }"}' }
const JSON_TYPE = { 'content-type': 'application/json' }

/** What a browser says of where a request comes from, and whether that is taken. */
const table: [string, () => Record<string, string>, boolean][] = [
  ['nothing, as programs do', () => ({}), true],
  ['its own origin', () => ({ origin: `http://${host}`, 'sec-fetch-site': 'same-origin' }), true],
  ['its own origin alone', () => ({ origin: `http://${host}` }), true],
  [
    'its own public origin, behind a proxy',
    () => ({ origin: 'https://public.example', 'sec-fetch-site': 'same-origin' }),
    true,
  ],
  ['an address that was typed', () => ({ 'sec-fetch-site': 'none', 'sec-fetch-mode': 'navigate' }), true],
  ['an origin that is allowed', () => ({ origin: APP, 'sec-fetch-site': 'cross-site' }), true],
  ['an origin that is allowed alone', () => ({ origin: APP }), true],
  ['another origin', () => ({ origin: 'https://evil.example', 'sec-fetch-site': 'cross-site' }), false],
  ['another origin alone', () => ({ origin: 'https://evil.example' }), false],
  [
    'an image or a script of another origin',
    () => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'no-cors' }),
    false,
  ],
  [
    'a link of another origin',
    () => ({ 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' }),
    false,
  ],
  ['another port', () => ({ origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }), false],
  ['another port alone', () => ({ origin: 'http://127.0.0.1:1' }), false],
  ['an opaque origin', () => ({ origin: 'null' }), false],
  ['an opaque origin of another site', () => ({ origin: 'null', 'sec-fetch-site': 'cross-site' }), false],
  ['an origin that is like an allowed one', () => ({ origin: `${APP}.evil.example` }), false],
  ['an allowed origin without TLS', () => ({ origin: APP.replace('https', 'http') }), false],
  ['an allowed origin with a port', () => ({ origin: `${APP}:8443` }), false],
]

describe('a request that comes with', () => {
  const accepts = { 'as a query': '*/*', 'as a stream': 'text/event-stream' }
  it.each(table)('%s is taken or refused', async (_, headers, isTaken) => {
    for (const accept of Object.values(accepts)) {
      const { status, body } = await ask({ accept, ...headers() })
      expect(status).toBe(isTaken ? 200 : 403)
      if (!isTaken) expect(body).toContain('"code":"FORBIDDEN_ORIGIN"')
    }
    expect((await ask({ ...JSON_TYPE, ...headers() }, POST)).status).toBe(isTaken ? 200 : 403)
  })

  it.each(table)('%s is taken or refused as a WebSocket', async (_, headers, isTaken) => {
    const opened = openSocket(gateway.url, { headers: headers() })
    if (isTaken) await (await opened).init()
    else await expect(opened).rejects.toThrow('403')
  })

  it('is refused before anybody looks at who it is', async () => {
    const { status, body } = await ask({ origin: 'https://evil.example', 'x-tenant': '' })
    expect([status, JSON.parse(body).errors[0].extensions.code]).toEqual([403, 'FORBIDDEN_ORIGIN'])
  })

  it('has the host that it was sent to, with the usual port or without', async () => {
    for (const [sentTo, origin] of [
      ['localhost', 'http://localhost'],
      ['localhost:80', 'http://localhost'],
      ['localhost:443', 'https://localhost'],
      ['LOCALHOST', 'http://localhost'],
    ] as const)
      expect((await ask({ host: sentTo, origin })).status).toBe(200)
    expect((await ask({ host: 'localhost:81', origin: 'http://localhost' })).status).toBe(403)
  })
})

describe('CORS', () => {
  const preflight = { origin: APP, 'access-control-request-method': 'POST' }

  it('answers preflights of the origins that are allowed', async () => {
    const wanted = 'authorization,content-type,last-event-id,traceparent,x-request-id'
    const { status, headers } = await ask(
      { ...preflight, 'access-control-request-headers': wanted },
      { method: 'OPTIONS', path: '/graphql' },
    )
    expect(status).toBe(204)
    expect(headers).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-allow-methods': 'GET, POST',
      'access-control-allow-headers': wanted,
      'access-control-max-age': '7200',
    })
    expect(headers['vary']).toContain('origin')
    expect(headers).not.toHaveProperty('access-control-allow-credentials')
  })

  it('says nothing to others, and nothing of them', async () => {
    for (const origin of ['https://evil.example', 'null', `${APP}/`]) {
      const { headers } = await ask({ ...preflight, origin }, { method: 'OPTIONS', path: '/graphql' })
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
      expect(headers['vary']).toBe('origin')
    }
  })

  it.each<[string, Record<string, string>, object, number]>([
    ['a result', JSON_TYPE, POST, 200],
    ['a stream', { accept: 'text/event-stream' }, {}, 200],
    ['credentials that are bad', { 'x-tenant': 'x'.repeat(256) }, {}, 401],
    ['a stream that is refused', { 'x-tenant': 'x'.repeat(256), accept: 'text/event-stream' }, {}, 401],
    [
      'a body that is too large',
      { ...JSON_TYPE, 'content-length': '9999999' },
      { method: 'POST', path: '/graphql' },
      413,
    ],
    ['a document that is none', {}, { path: '/graphql?query={' }, 400],
    ['a path that is none', {}, { path: '/nothing' }, 404],
  ])('lets an allowed origin read %s', async (_, headers, options, status) => {
    const answer = await ask({ origin: APP, 'sec-fetch-site': 'cross-site', ...headers }, options)
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject({
      'access-control-allow-origin': APP,
      'access-control-expose-headers': 'x-request-id, x-graphql-cost, retry-after, www-authenticate',
    })
    expect(answer.headers['vary']).toContain('origin')
  })

  it('is closed unless origins are named', async () => {
    const { url } = await startGateway()
    const options = { method: 'OPTIONS', path: '/graphql', url }
    const answers = [
      await ask(preflight, options),
      await ask({ origin: `http://${new URL(url).host}` }, { url }),
    ]
    expect(answers.map(({ status }) => status)).toEqual([403, 200])
    for (const { headers } of answers)
      expect(Object.keys(headers).filter((name) => name.startsWith('access-control'))).toEqual([])
  })

  it('may be open to every origin, but never with what a browser adds by itself', async () => {
    const env = { AUTH: 'jwt', JWT_SECRET: SECRET, CORS_ORIGINS: '*' }
    const { url } = await startGateway(env)
    const origin = 'https://anywhere.example'
    const headers = bearer(await tokenWith({ iss: undefined, aud: undefined }))
    const answer = await ask({ origin, ...headers }, { url })
    expect([answer.status, answer.headers['access-control-allow-origin']]).toEqual([200, origin])
    expect(answer.headers).not.toHaveProperty('access-control-allow-credentials')
    await (await openSocket(url, { headers: { origin } })).init(headers)
  })

  const gatewayWith = (cors: CorsOptions, options: Partial<GatewayOptions> = {}) =>
    createGateway({ storage: new MemoryStorage(), resolveActor: insecureHeaderAuth, cors, ...options })

  it('has cookies where an application wants them', async () => {
    const { fetch } = gatewayWith({ origins: [APP, 'capacitor://localhost'], credentials: true })
    for (const origin of [APP, 'capacitor://localhost']) {
      const address = 'http://gateway/graphql?query={__typename}'
      const { status, headers } = await fetch(new Request(address, { headers: { origin } }))
      expect([status, headers.get('access-control-allow-origin')]).toEqual([200, origin])
      expect(headers.get('access-control-allow-credentials')).toBe('true')
    }
  })

  it.each<[string, CorsOptions]>([
    ['a path', { origins: [`${APP}/`] }],
    ['no scheme', { origins: ['app.example.com'] }],
    ['upper case', { origins: ['https://App.example.com'] }],
    ['the usual port', { origins: [`${APP}:443`] }],
    ['a wildcard inside', { origins: ['https://*.example.com'] }],
    ['null', { origins: ['null'] }],
    ['nothing', { origins: [''] }],
    ['everyone, with cookies', { origins: ['*'], credentials: true }],
  ])('is not made of %s', (_, cors) => {
    expect(() => gatewayWith(cors)).toThrow(TypeError)
  })
})

describe('every response', () => {
  it.each<[string, Record<string, string>, object, number]>([
    ['a result', JSON_TYPE, POST, 200],
    ['a result of GET', {}, {}, 200],
    ['a refusal', { origin: 'https://evil.example' }, {}, 403],
    ['bad credentials', { 'x-tenant': '' }, {}, 401],
    ['a path that is none', {}, { path: '/nothing' }, 404],
    ['a method that is none', {}, { method: 'DELETE', path: '/graphql' }, 405],
    ['the way to GraphQL', {}, { path: '/' }, 307],
    ['health', {}, { path: '/health' }, 200],
    ['an address that is none', { host: 'a b[' }, {}, 400],
  ])('tells a browser to leave it alone: %s', async (_, headers, options, status) => {
    const answer = await ask(headers, options)
    expect(answer.status).toBe(status)
    expect(answer.headers).toMatchObject({
      ...everywhere,
      'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
      'cache-control': 'no-store',
    })
  })

  it('does so if it is a stream or a page, which have their own rules', async () => {
    const stream = await ask({ accept: 'text/event-stream' })
    expect(stream.headers).toMatchObject({ ...everywhere, 'cache-control': 'no-cache, no-transform' })
    const page = await ask(
      { accept: 'text/html', 'sec-fetch-site': 'cross-site', 'sec-fetch-mode': 'navigate' },
      { path: '/graphql' },
    )
    expect(page.status).toBe(200)
    expect(page.headers).toMatchObject({ ...everywhere, 'cache-control': 'private, no-cache' })
    expect(page.headers['content-security-policy']).toContain("frame-ancestors 'none'")
  })
})

const everywhere = {
  'x-content-type-options': 'nosniff',
  'referrer-policy': 'no-referrer',
  'x-frame-options': 'DENY',
  'cross-origin-resource-policy': 'same-origin',
}
