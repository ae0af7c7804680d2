/** The GraphQL-over-HTTP audit suite of graphql-http, against the running gateway: every MUST, and every SHOULD. */
import { serverAudits } from 'graphql-http'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type RunningGateway, startGateway } from '../support/gateway.js'

let gateway: RunningGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway?.kill())

describe('GraphQL over HTTP', () => {
  it.each(serverAudits({ url: () => `${gateway.url}/graphql` }))('$name ($id)', async ({ fn }) => {
    const result = await fn()
    expect(result.status === 'ok' ? 'ok' : `${result.status}: ${result.reason}`).toBe('ok')
  })
})
