/** How the process ends when it is told to. */
import { connect, type Socket } from 'node:net'
import { describe, expect, it } from 'vitest'
import { type RunningGateway, startGateway, until } from '../support/gateway.js'

const query = JSON.stringify({ query: '{ viewer { tenantId } }' })

/** A request under way: its headers and half of its body are sent. */
const beginRequest = async ({ url }: RunningGateway): Promise<{ socket: Socket; received: () => string }> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => undefined)
  const head = [
    'POST /graphql HTTP/1.1',
    `host: ${hostname}`,
    'content-type: application/json',
    `content-length: ${query.length}`,
    'expect: 100-continue',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  // The server has read the headers when it asks for the body.
  await until(5000, 'the server to ask for the body', () => received.includes('100 Continue') || null)
  socket.write(query.slice(0, 10))
  return { socket, received: () => received }
}

const refusesConnections = ({ url }: RunningGateway) =>
  until(5000, 'the server to take no more connections', async () => {
    const response = await fetch(`${url}/health`, { headers: { connection: 'close' } }).catch(() => null)
    return response === null || null
  })

describe.each(['SIGTERM', 'SIGINT'] as const)('%s', (signal) => {
  it('ends an idle process with 0, whoever keeps a connection open', async () => {
    const gateway = await startGateway()
    // fetch keeps the connection it used.
    await (await fetch(`${gateway.url}/health`)).text()
    const begun = performance.now()
    expect(await gateway.kill(signal)).toEqual({ code: 0, signal: null })
    expect(performance.now() - begun).toBeLessThan(5000)
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
    const { socket, received } = await beginRequest(gateway)
    gateway.signal(signal)
    await refusesConnections(gateway)
    socket.write(query.slice(10))
    expect(await gateway.exit).toEqual({ code: 0, signal: null })
    expect(received()).toContain('{"data":{"viewer":{"tenantId":"dev"}}}')
    expect(received().toLowerCase()).toContain('connection: close')
  })

  it('cuts a request that does not finish in time', async () => {
    const gateway = await startGateway({ SHUTDOWN_TIMEOUT: '300' })
    const { socket } = await beginRequest(gateway)
    expect(await gateway.kill(signal)).toEqual({ code: 1, signal: null })
    await until(5000, 'the connection to be cut', () => socket.destroyed || null)
  })

  it('ends the process at once when it comes a second time', async () => {
    const gateway = await startGateway({ SHUTDOWN_TIMEOUT: '60000' })
    await beginRequest(gateway)
    gateway.signal(signal)
    await refusesConnections(gateway)
    expect(await gateway.kill(signal)).toEqual({ code: signal === 'SIGINT' ? 130 : 143, signal: null })
  })
})
