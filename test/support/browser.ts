/** A Chromium that reaches the gateway and nothing else. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'
import { afterAll, beforeAll, describe } from 'vitest'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The Chromium in the PATH, or `null`. */
const findChromium = (): string | null =>
  (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .flatMap((directory) => names.map((name) => path.join(directory, name)))
    .find((file) => existsSync(file)) ?? null

const launchChromium = (executablePath: string): Promise<Browser> =>
  chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })

/** A suite that needs a browser. Where there is none it is skipped, and says why; never where CI=true. */
export const describeChromium = (suite: (browser: () => Browser) => void): void => {
  const found = findChromium()
  const skipped = found === null && process.env['CI'] !== 'true'
  const name = skipped ? 'in Chromium (skipped: there is no chromium in the PATH)' : 'in Chromium'
  describe.skipIf(skipped)(name, () => {
    let browser: Browser | undefined
    beforeAll(async () => {
      if (found === null) throw new Error('there is no chromium in the PATH, and CI=true')
      browser = await launchChromium(found)
    })
    afterAll(() => browser?.close())
    suite(() => {
      if (browser === undefined) throw new Error('the browser is not there yet')
      return browser
    })
  })
}

/** A page whose requests to anywhere but the gateway fail. They are collected, as is what its security policy stopped. */
export const openIsolatedPage = async (
  browser: Browser,
  gatewayUrl: string,
): Promise<{ page: Page; strayed: string[] }> => {
  const page = await browser.newPage({ viewport: { width: 1280, height: 900 } })
  const strayed: string[] = []
  await page.route('**/*', (route) => {
    const url = route.request().url()
    if (url.startsWith(`${gatewayUrl}/`)) return route.continue()
    strayed.push(url)
    return route.abort()
  })
  page.on('console', (message) => {
    if (message.text().includes('Content Security Policy')) strayed.push(message.text())
  })
  return { page, strayed }
}
