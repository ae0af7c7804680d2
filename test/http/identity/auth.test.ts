/** Who a caller is when headers are trusted. */
import { request as httpRequest } from 'node:http'
import { describe, expect, it, onTestFinished } from 'vitest'
import { createGateway } from '../../../src/app.js'
import { headerAuth, insecureHeaderAuth, Unauthenticated } from '../../../src/http/identity/auth.js'
import type { Peer } from '../../../src/http/identity/peer.js'
import { listen } from '../../../src/http/server.js'
import { MemoryStorage } from '../../../src/storage/memory.js'
import { openEventStream } from '../../support/eventStreams.js'
import { post, startGateway } from '../../support/gateway.js'
import { openSocket } from '../../support/sockets.js'

/** Header values as they arrive: one character for each byte of UTF-8. */
const asBytes = (value: string): string => Buffer.from(value, 'utf8').toString('latin1')

const callerFor = async (headers: Record<string, string>) => {
  const encoded = Object.entries(headers).map(([name, value]): [string, string] => [name, asBytes(value)])
  return headerAuth(new Request('http://localhost/graphql', { headers: encoded }), { address: '127.0.0.1' })
}

describe('a caller', () => {
  it.each([
    [{}, { tenantId: 'dev', actor: { kind: 'user', id: 'dev' } }],
    [
      { 'x-tenant': 'acme', 'x-user': 'ann', 'x-user-name': 'Ann Ä' },
      { tenantId: 'acme', actor: { kind: 'user', id: 'ann', name: 'Ann Ä' } },
    ],
    [
      { 'x-tenant': 'テナント', 'x-user': '🦊' },
      { tenantId: 'テナント', actor: { kind: 'user', id: '🦊' } },
    ],
    [
      { 'x-actor-kind': 'user', 'x-actor-id': 'bob' },
      { tenantId: 'dev', actor: { kind: 'user', id: 'bob' } },
    ],
    [
      { 'x-user': 'bob', 'x-actor-id': 'zoe' },
      { tenantId: 'dev', actor: { kind: 'user', id: 'bob' } },
    ],
    [
      { 'x-actor-kind': 'external_agent', 'x-actor-id': 'c1' },
      { tenantId: 'dev', actor: { kind: 'external_agent', clientId: 'c1' } },
    ],
    [{ 'x-actor-kind': 'system' }, { tenantId: 'dev', actor: { kind: 'system', name: 'system' } }],
    [
      { 'x-actor-kind': 'system', 'x-actor-id': 'cron' },
      { tenantId: 'dev', actor: { kind: 'system', name: 'cron' } },
    ],
    [
      { 'x-actor-kind': 'evaluator', 'x-actor-id': 'e', 'x-actor-version': '2' },
      { tenantId: 'dev', actor: { kind: 'evaluator', name: 'e', version: '2' } },
    ],
  ])('with %j is known', async (headers, caller) => {
    expect(await callerFor(headers)).toEqual(caller)
  })

  it.each([
    [{ 'x-tenant': '' }, 'x-tenant must not be empty'],
    [{ 'x-tenant': 'x'.repeat(256) }, 'x-tenant must have at most 255 bytes'],
    [{ 'x-user': 'a\tb' }, 'x-user must not hold control characters'],
    [{ 'x-user-name': '' }, 'x-user-name must not be empty'],
    [
      { 'x-actor-kind': 'agent', 'x-actor-id': 't' },
      'x-actor-kind must be user, external_agent, system or evaluator',
    ],
    [{ 'x-actor-kind': 'root' }, 'x-actor-kind must be'],
    [{ 'x-actor-kind': 'external_agent' }, 'x-actor-id is required'],
    [{ 'x-actor-kind': 'evaluator', 'x-actor-id': 'e' }, 'x-actor-version is required'],
  ])('with %j is refused', async (headers, problem) => {
    await expect(callerFor(headers)).rejects.toThrow(problem)
  })
})

describe('headers', () => {
  const believed = async (peer: Peer, headers: Record<string, string> = {}, url = 'http://localhost/') => {
    try {
      await headerAuth(new Request(url, { headers }), peer)
      return 'believed'
    } catch (error) {
      if (!(error instanceof Unauthenticated)) throw error
      // It fits into the reason that a WebSocket is closed with.
      expect(Buffer.byteLength(error.message)).toBeLessThanOrEqual(123)
      return error.message.split(':')[0]
    }
  }
  const local = { address: '127.0.0.1' }

  it.each(['127.0.0.1', '127.8.9.10', '::1', '::ffff:127.0.0.1', '::ffff:7f00:1'])(
    'are believed of this machine: %s',
    async (address) => {
      expect(await believed({ address })).toBe('believed')
    },
  )

  it.each([
    '192.168.1.7',
    '10.0.0.1',
    '172.17.0.1',
    '0.0.0.0',
    '::',
    'fe80::1',
    '::ffff:10.0.0.1',
    '128.0.0.1',
    '',
  ])('are not believed of another machine: %j', async (address) => {
    expect(await believed({ address })).toBe('this comes from another machine')
  })

  it('are not believed of somebody whose address is unknown', async () => {
    expect(await believed({})).toBe('the peer address is unknown')
  })

  it.each(['localhost', 'LOCALHOST:4000', 'app.localhost', '127.0.0.1:4000', '[::1]', '[::1]:4000'])(
    'are believed by a name that leads to this machine only: %s',
    async (host) => {
      expect(await believed(local, { host }, 'http://websocket/')).toBe('believed')
    },
  )

  it.each([
    'evil.example',
    'evil.example:4000',
    'localhost.evil.example',
    'notlocalhost',
    '127.0.0.1.evil.example',
    '192.168.1.7',
    'localhost@evil.example',
    '[::2]',
    '',
  ])('are not believed by a name that may lead anywhere: %j', async (host) => {
    expect(await believed(local, { host }, 'http://localhost/')).toBe('the host is no loopback name')
  })

  it('have the host of the address where there is no other', async () => {
    expect(await believed(local, {}, 'http://[::1]:4000/graphql')).toBe('believed')
    expect(await believed(local, {}, 'http://gateway/graphql')).toBe('the host is no loopback name')
  })

  it.each(['forwarded', 'x-forwarded-for', 'x-forwarded-host', 'x-real-ip', 'via', 'cf-connecting-ip'])(
    'are not believed through a proxy: %s',
    async (name) => {
      expect(await believed(local, { [name]: 'x' })).toBe(`${name} is set`)
    },
  )

  it('are believed of everyone where that is wanted', async () => {
    const request = new Request('http://evil.example/', { headers: { 'x-forwarded-for': '1.2.3.4' } })
    expect(await insecureHeaderAuth(request, {})).toMatchObject({ tenantId: 'dev' })
  })
})

describe('a gateway that believes headers', () => {
  const query = '{ viewer { tenantId } }'
  const forwarded = { 'x-forwarded-for': '203.0.113.9' }
  const told =
    'x-forwarded-for is set: without AUTH_INSECURE=1 (insecureHeaderAuth), headers are believed from this machine only'

  it('answers 401 to what a proxy passed on, and says what to do, over every transport', async () => {
    const { url } = await startGateway()
    const { status, body } = await post(url, { query }, forwarded)
    expect([status, body.errors[0].message]).toEqual([401, told])
    const stream = await openEventStream(url, { headers: forwarded })
    expect(stream.response.statusCode).toBe(401)
    for (const [headers, payload] of [
      [forwarded, undefined],
      [{}, forwarded],
      [{ host: 'evil.example' }, { host: 'localhost' }],
    ] as const) {
      const client = await openSocket(url, { headers })
      client.send({ type: 'connection_init', payload: payload ?? {} })
      const { code, reason } = await client.closed
      expect(code).toBe(4401)
      if (!('host' in headers)) expect(reason).toBe(told)
    }
  })

  it('is not reached by a page that has its own name lead here', async () => {
    const { url } = await startGateway()
    const page = {
      host: `evil.example:${new URL(url).port}`,
      origin: `http://evil.example:${new URL(url).port}`,
    }
    const stream = await openEventStream(url, { headers: page })
    expect(stream.response.statusCode).toBe(401)
    const client = await openSocket(url, { headers: page })
    client.send({ type: 'connection_init' })
    expect((await client.closed).code).toBe(4401)
  })

  it('answers everyone with AUTH_INSECURE=1', async () => {
    const { url } = await startGateway({ AUTH_INSECURE: '1' })
    expect((await post(url, { query }, forwarded)).status).toBe(200)
    const client = await openSocket(url, { headers: { host: 'gateway.example', ...forwarded } })
    await client.init()
  })

  it.each(['localhost', '::1', '127.0.0.2'])('answers on HOST %s', async (HOST) => {
    const { url } = await startGateway({ HOST })
    expect((await post(url, { query })).status).toBe(200)
  })

  it('knows this machine on a server for both kinds of addresses', async () => {
    const gateway = createGateway({ storage: new MemoryStorage(), resolveActor: headerAuth })
    const server = await listen(gateway, { host: '::', port: 0 })
    onTestFinished(async () => void (await Promise.all([server.stop(1_000), gateway.close()])))
    const { port } = new URL(server.url)
    for (const host of ['127.0.0.1', '[::1]'])
      expect((await post(`http://${host}:${port}`, { query })).status).toBe(200)
  })

  it('believes a request of Fetch by what the application says of its peer', async () => {
    const gateway = createGateway({ storage: new MemoryStorage(), resolveActor: headerAuth })
    const ask = async (peer?: Peer) => {
      const request = new Request('http://localhost/graphql?query={__typename}')
      return (await gateway.fetch(request, peer)).status
    }
    expect([await ask(), await ask({ address: '10.0.0.1' }), await ask({ address: '::1' })]).toEqual([
      401, 401, 200,
    ])
  })
})

describe('the gateway', () => {
  it('answers 401 to bad credentials, whatever the request, and names the header', async () => {
    const gateway = await startGateway()
    for (const body of [{ query: '{ viewer { tenantId } }' }, 'not JSON']) {
      const { status, body: answer } = await post(gateway.url, body, { 'x-tenant': 'x'.repeat(256) })
      expect(status).toBe(401)
      expect(answer).toEqual({
        errors: [
          {
            message: 'x-tenant must have at most 255 bytes in UTF-8',
            extensions: { code: 'UNAUTHENTICATED' },
          },
        ],
      })
    }
  })

  it('reads header bytes as UTF-8, and refuses those that are not', async () => {
    const gateway = await startGateway()
    const viewerWith = (user: Buffer) =>
      new Promise<string>((resolve, reject) => {
        const headers = { 'content-type': 'application/json', 'x-user': user.toString('latin1') }
        const request = httpRequest(`${gateway.url}/graphql`, { method: 'POST', headers }, (response) => {
          let text = ''
          response.setEncoding('utf8').on('data', (chunk: string) => {
            text += chunk
          })
          response.on('end', () => resolve(text))
        })
        request.on('error', reject)
        // Not a string: Node would send the headers in the encoding of the body.
        request.end(Buffer.from(JSON.stringify({ query: '{ viewer { actor { displayName } } }' })))
      })
    expect(await viewerWith(Buffer.from('Zoë 🦊'))).toContain('"displayName":"Zoë 🦊"')
    expect(await viewerWith(Buffer.from([0x61, 0xff]))).toContain('x-user must be UTF-8')
  })
})
