/** Streams over Server-Sent Events when the gateway stops. */
import { describe, expect, it } from 'vitest'
import { EVENTS, follow } from '../../support/eventStreams.js'
import { startGateway, until } from '../../support/gateway.js'
import { createThread, postMessage, upTo } from '../../support/posts.js'

describe('a gateway that stops', () => {
  it('completes its streams, and is gone at once', async () => {
    const gateway = await startGateway({ AGENT: 'none' })
    await createThread(gateway.url)
    const clients = await Promise.all(upTo(10).map(() => follow(gateway.url)))
    for (const client of clients) await client.comeTo(1)
    const begun = performance.now()
    expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(performance.now() - begun).toBeLessThan(8_000)
    for (const client of clients) {
      await until(20_000, 'the end', () => client.isOver || null)
      expect(client.sent.at(-1)).toEqual({ event: 'complete', id: undefined, data: null })
    }
  })

  it('does not wait for readers that do not read', async () => {
    const gateway = await startGateway({ AGENT: 'none' })
    await createThread(gateway.url)
    const client = await follow(gateway.url)
    await client.comeTo(1)
    client.pause()
    // More than all buffers on the way hold.
    for (let n = 0; n < 150; n++) await postMessage(gateway.url, 'x'.repeat(60_000))
    const begun = performance.now()
    expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(performance.now() - begun).toBeLessThan(10_000)
  })

  it('completes a stream that comes too late', async () => {
    const { createGateway, insecureHeaderAuth, MemoryStorage } = await import('../../../src/index.js')
    const gateway = createGateway({ storage: new MemoryStorage(), resolveActor: insecureHeaderAuth })
    await gateway.close()
    const response = await gateway.fetch(
      new Request('http://gateway/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', accept: 'text/event-stream' },
        body: JSON.stringify({ query: EVENTS, variables: { workspaceId: 'w1' } }),
      }),
    )
    expect(await response.text()).toBe(':\n\nevent: complete\ndata:\n\n')
  })
})
