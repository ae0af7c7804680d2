/** Bodies that come slowly, or in many small pieces. */
import { describe, expect, it } from 'vitest'
import { startGateway, until } from '../../support/gateway.js'
import { heldMoreThan, heldNothing, memoryOf } from '../../support/memory.js'
import { openRaw, rawRequest } from '../../support/rawHttp.js'
import { serving } from '../../support/serving.js'

const HEAD = 'POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n'

const chunk = (text: string): string => `${text.length.toString(16)}\r\n${text}\r\n`

describe('a body', () => {
  it('is read whatever pieces it comes in, which take no more memory than a whole one', async () => {
    const { url, pid } = await startGateway()
    const connection = await openRaw(url)
    const before = memoryOf(pid)
    connection.socket.write(`${HEAD}transfer-encoding: chunked\r\n\r\n`)
    connection.socket.write(chunk('{"query":"{ viewer { tenantId } }","extensions":{"x":"'))
    connection.socket.write(chunk('x').repeat(1_000_000))
    await heldMoreThan(url, 1_000_000)
    expect(memoryOf(pid) - before).toBeLessThan(150)
    connection.socket.write(`${chunk('"}}')}${chunk('')}`)
    connection.socket.resume()
    await until(20_000, 'the answer', () => connection.end().endsWith('{"tenantId":"dev"}}}') || null)
    await heldNothing(url)
  })

  it('is waited for so long, and then its connection is closed', async () => {
    const { url } = await serving({ metrics: 'served', requestTimeout: 600 })
    const connection = await openRaw(url)
    const whole = rawRequest({ query: '{ viewer { tenantId } }', extensions: { x: 'x'.repeat(10_000) } })
    connection.socket.write(whole.slice(0, -1))
    await heldMoreThan(url, 4_000)
    connection.socket.resume()
    await connection.closed
    expect(connection.end()).toContain('HTTP/1.1 408 Request Timeout')
    await heldNothing(url)
  })
})
