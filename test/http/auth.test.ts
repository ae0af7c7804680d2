/** Who a caller is when headers are trusted. */
import { request as httpRequest } from 'node:http'
import { describe, expect, it } from 'vitest'
import { headerAuth } from '../../src/http/auth.js'
import { post, startGateway } from '../support/gateway.js'

/** Header values as they arrive: one character for each byte of UTF-8. */
const asBytes = (value: string): string => Buffer.from(value, 'utf8').toString('latin1')

const callerFor = async (headers: Record<string, string>) => {
  const encoded = Object.entries(headers).map(([name, value]): [string, string] => [name, asBytes(value)])
  return headerAuth(new Request('http://gateway/graphql', { headers: encoded }))
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
