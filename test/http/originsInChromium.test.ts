/** Which web pages may use the gateway, as a browser has it. */
import { createServer } from 'node:http'
import type { Page } from 'playwright-core'
import { expect, it, onTestFinished } from 'vitest'
import { describeChromium } from '../support/browser.js'
import { serving } from '../support/serving.js'

describeChromium((browser) => {
  /** A page of another origin, on a server of its own. */
  const openForeignPage = async (): Promise<{ page: Page; origin: string }> => {
    const server = createServer((_, response) => {
      response.writeHead(200, { 'content-type': 'text/html' }).end('<title>elsewhere</title>')
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
    const address = server.address()
    const origin = `http://localhost:${typeof address === 'object' ? address?.port : ''}`
    const page = await browser().newPage()
    onTestFinished(async () => {
      await page.close()
      server.closeAllConnections()
      server.close()
    })
    await page.goto(origin)
    return { page, origin }
  }

  /** What a page gets of each way to the gateway: `null` where it gets nothing. */
  const attempts = (page: Page, url: string) =>
    page.evaluate(async (target) => {
      const query = encodeURIComponent('{ viewer { tenantId } }')
      const follow = encodeURIComponent('subscription { events(workspaceId: "w1") { __typename } }')
      const got = (init: RequestInit, address = `${target}?query=${query}`) =>
        fetch(address, init).then(
          async (response) =>
            `${response.status} ${response.type} ${response.headers.get('x-request-id') !== null}`,
          () => null,
        )
      const body = JSON.stringify({ query: '{ viewer { tenantId } }' })
      const headers = { 'content-type': 'application/json', 'x-user': 'ann', 'last-event-id': '1' }
      return {
        get: await got({}),
        post: await got({ method: 'POST', body, headers }, target),
        text: await got({ method: 'POST', body }, target),
        stream: await new Promise((resolve) => {
          const source = new EventSource(`${target}?query=${follow}`)
          source.addEventListener('next', ({ data }) => {
            source.close()
            resolve(JSON.parse(data).data.events.__typename)
          })
          source.addEventListener('error', () => {
            source.close()
            resolve(null)
          })
        }),
        socket: await new Promise((resolve) => {
          const socket = new WebSocket(target.replace('http', 'ws'), 'graphql-transport-ws')
          socket.onopen = () => socket.send('{"type":"connection_init"}')
          socket.onmessage = ({ data }) => {
            resolve(JSON.parse(data).type)
            socket.close()
          }
          socket.onclose = () => resolve(null)
        }),
      }
    }, `${url}/graphql`)

  it('a page of another origin gets nothing at all', async () => {
    const { page } = await openForeignPage()
    const { url } = await serving({ cors: { origins: ['https://app.example.com'] } })
    expect(await attempts(page, url)).toEqual({
      get: null,
      post: null,
      text: null,
      stream: null,
      socket: null,
    })
  })

  it('a page of an allowed origin gets everything, and reads refusals too', async () => {
    const { page, origin } = await openForeignPage()
    const { url } = await serving({ cors: { origins: [origin] } })
    expect(await attempts(page, url)).toEqual({
      get: '200 cors true',
      post: '200 cors true',
      text: '415 cors true',
      stream: 'ReplayComplete',
      socket: 'connection_ack',
    })
  })

  it('the gateway’s own page gets everything, though nothing is allowed', async () => {
    const { url } = await serving()
    const page = await browser().newPage()
    onTestFinished(() => page.close())
    await page.goto(`${url}/graphql`)
    expect(await attempts(page, url)).toMatchObject({
      get: '200 basic true',
      post: '200 basic true',
      stream: 'ReplayComplete',
      socket: 'connection_ack',
    })
  })
})
