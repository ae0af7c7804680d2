/** GraphiQL as a browser sees it, with the network to anywhere but the gateway cut. */
import { brotliDecompressSync, gunzipSync } from 'node:zlib'
import { parse, validate } from 'graphql'
import type { Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { createSchema } from '../../src/graphql/schema.js'
import { exampleOperations } from '../../src/http/examples.js'
import { describeChromium, openIsolatedPage } from '../support/browser.js'
import { post, type RunningGateway, startGateway, until } from '../support/gateway.js'

let gateway: RunningGateway
beforeAll(async () => {
  gateway = await startGateway()
})
afterAll(() => gateway?.kill())

const getPage = async (headers: Record<string, string>) => {
  // Unlike fetch, this leaves the body as it comes.
  const { request } = await import('node:http')
  return new Promise<{ status: number | undefined; headers: NodeJS.Dict<string | string[]>; body: Buffer }>(
    (resolve, reject) => {
      request(`${gateway.url}/graphql`, { headers: { accept: 'text/html', ...headers } }, (response) => {
        const chunks: Buffer[] = []
        response.on('data', (chunk: Buffer) => chunks.push(chunk))
        response.on('end', () =>
          resolve({ status: response.statusCode, headers: response.headers, body: Buffer.concat(chunks) }),
        )
      })
        .on('error', reject)
        .end()
    },
  )
}

describe('the page', () => {
  it('is compressed as the browser asks, and is the same page', async () => {
    const plain = await getPage({})
    const gzip = await getPage({ 'accept-encoding': 'gzip, deflate' })
    const brotli = await getPage({ 'accept-encoding': 'gzip, deflate, br' })
    expect([plain, gzip, brotli].map(({ headers }) => headers['content-encoding'])).toEqual([
      undefined,
      'gzip',
      'br',
    ])
    expect(gunzipSync(gzip.body).equals(plain.body)).toBe(true)
    expect(brotliDecompressSync(brotli.body).equals(plain.body)).toBe(true)
    expect(brotli.body.length).toBeLessThan(plain.body.length / 3)
    expect(String(plain.body)).toContain('<title>artifactr gateway</title>')
    for (const { headers } of [plain, gzip, brotli]) {
      expect(headers['vary']).toBe('accept, accept-encoding')
      expect(headers['cache-control']).toBe('private, no-cache')
    }
  })

  it('is not sent again to a browser that has it', async () => {
    const first = await getPage({ 'accept-encoding': 'br' })
    const again = await getPage({ 'accept-encoding': 'br', 'if-none-match': String(first.headers['etag']) })
    expect(again).toMatchObject({ status: 304, body: Buffer.alloc(0) })
    const other = await getPage({ 'accept-encoding': 'gzip', 'if-none-match': String(first.headers['etag']) })
    expect(other.status).toBe(200)
  })
})

describe('the example operations', () => {
  it('are valid', () => {
    for (const example of exampleOperations) expect(validate(createSchema(), parse(example))).toEqual([])
  })
})

describeChromium((browser) => {
  it('runs the example operations, and shows that the message id is used', async () => {
    const { page, strayed } = await openIsolatedPage(browser(), gateway.url)
    await page.goto(gateway.url, { waitUntil: 'load' })
    expect(await page.title()).toBe('artifactr gateway')
    await runTab(page, 'CreateThread', ['"__typename": "CreateThreadSuccess"'])
    await runTab(page, 'PostMessage', ['"__typename": "PostMessageSuccess"', '"messageId": "m1"'])
    await runTab(page, 'PostAgain', [
      '"__typename": "InvalidState"',
      '"reason": "ALREADY_EXISTS"',
      '"message": "message m1 already exists"',
    ])
    await until(20_000, 'the turn to be over', async () => {
      const query = '{ workspace(workspaceId: "demo") { events { event { type } } } }'
      const types = (await post(gateway.url, { query })).body.data.workspace.events
      return types.some(({ event }: { event: { type: string } }) => event.type === 'run_ended') || null
    })
    await runTab(page, 'ReadThread', ['"messageIdUsed": true', '"content": "You said: Hello, world"'])

    expect(strayed).toEqual([])
  }, 120_000)
})

/** Runs a tab's operation, and waits until the result pane shows all that is expected. */
const runTab = async (page: Page, name: string, expected: readonly string[]): Promise<void> => {
  await page.getByRole('tab', { name }).click()
  await page.locator('.graphiql-query-editor').getByText(name, { exact: true }).waitFor()
  const execute = page.getByRole('button', { name: /execute/i })
  await execute.click()
  const shown = async () => {
    const text = ((await page.locator('.result-window').textContent()) ?? '').replaceAll('\u00a0', ' ')
    // GraphiQL takes a moment to know the operation of a tab that was just opened.
    if (text.includes('Cannot infer operation')) await execute.click()
    return text
  }
  await expect
    .poll(shown, { timeout: 15_000 })
    .toSatisfy((text: string) => expected.every((part) => text.includes(part)))
}
