/** What a request is known by, and what is logged of it. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { linesOf, post, type RunningGateway, startGateway } from '../support/gateway.js'

let gateway: RunningGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway?.kill())

describe('a request id', () => {
  const idFor = async (id: string) => {
    const { headers } = await fetch(`${gateway.url}/health`, { headers: { 'x-request-id': id } })
    return headers.get('x-request-id')
  }

  it('is the caller’s own when it is sane', async () => {
    expect(await idFor('caller-17')).toBe('caller-17')
    expect(await idFor('x'.repeat(128))).toBe('x'.repeat(128))
  })

  it.each(['', 'x'.repeat(129), 'a b', 'é'])('is replaced otherwise: %j', async (id) => {
    expect(await idFor(id)).toMatch(/^[0-9a-f-]{36}$/)
  })
})

describe('the log', () => {
  it('says of each request what was asked and how it went, and nothing of its content', async () => {
    const query = 'query Named($id: ID!) { workspace(workspaceId: $id) { headSeq } }'
    await post(
      gateway.url,
      { query, variables: { id: 'hidden-content' } },
      { 'x-request-id': 'logged-1', 'x-tenant': 'acme', authorization: 'Bearer hidden-credential' },
    )
    const hidden = encodeURIComponent('{workspace(workspaceId:"hidden-content"){headSeq}}')
    await fetch(`${gateway.url}/graphql?query=${hidden}`, { headers: { 'x-request-id': 'logged-2' } })
    await linesOf(gateway, 'logged-2')
    expect((await linesOf(gateway, 'logged-1'))[0]).toMatchObject({
      msg: 'request',
      method: 'POST',
      path: '/graphql',
      status: 200,
      durationMs: expect.any(Number),
      operationName: 'Named',
      operationType: 'query',
      tenant: 'acme',
    })
    expect(gateway.output()).not.toContain('hidden')
  })
})
