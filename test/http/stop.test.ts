/** How the process ends when it is told to. */
import { describe, expect, it } from 'vitest'
import { startGateway, until } from '../support/gateway.js'
import { beginRequest, refusesConnections } from '../support/underWay.js'

const query = JSON.stringify({ query: '{ viewer { tenantId } }' })

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  it('ends an idle process with 0, whoever keeps a connection open', async () => {
    const gateway = await startGateway()
    // fetch keeps the connection it used.
    await (await fetch(`${gateway.url}/health`)).text()
    const begun = performance.now()
    expect(await gateway.kill(signal)).toEqual({ code: 0, signal: null })
    expect(performance.now() - begun).toBeLessThan(10_000)
    expect(gateway.log().map(({ msg }) => msg)).toEqual(expect.arrayContaining(['stopping', 'stopped']))
  })

  it('ends a process whose log nobody reads any more', async () => {
    const gateway = await startGateway()
    gateway.abandonOutput()
    expect((await fetch(`${gateway.url}/graphql?query={__typename}`)).status).toBe(200)
    expect(await gateway.kill(signal)).toEqual({ code: 0, signal: null })
  })

  it('lets a request under way finish, takes no other, and ends with 0', async () => {
    const gateway = await startGateway()
    const { finish, answer } = await beginRequest(gateway.url, query)
    gateway.signal(signal)
    await refusesConnections(gateway.url)
    finish()
    expect(await gateway.exit).toEqual({ code: 0, signal: null })
    expect(await answer).toContain('{"data":{"viewer":{"tenantId":"dev"}}}')
    expect((await answer).toLowerCase()).toContain('connection: close')
  })

  it('cuts a request that does not finish in time', async () => {
    const gateway = await startGateway({ SHUTDOWN_TIMEOUT: '300' })
    const { socket } = await beginRequest(gateway.url, query)
    expect(await gateway.kill(signal)).toEqual({ code: 1, signal: null })
    await until(20_000, 'the connection to be cut', () => socket.destroyed || null)
  })

  it('ends the process at once when it comes a second time', async () => {
    const gateway = await startGateway({ SHUTDOWN_TIMEOUT: '60000' })
    await beginRequest(gateway.url, query)
    gateway.signal(signal)
    await refusesConnections(gateway.url)
    expect(await gateway.kill(signal)).toEqual({ code: signal === 'SIGINT' ? 130 : 143, signal: null })
  })
})
