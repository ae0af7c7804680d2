/** A Chromium that reaches the gateway and nothing else. */
import { existsSync } from 'node:fs'
import path from 'node:path'
import { type Browser, chromium, type Page } from 'playwright-core'

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable']

/** The Chromium in the PATH, or `null`. */
export const findChromium = (): string | null =>
  (process.env['PATH'] ?? '')
    .split(path.delimiter)
    .flatMap((directory) => names.map((name) => path.join(directory, name)))
    .find((file) => existsSync(file)) ?? null

export const launchChromium = (executablePath: string): Promise<Browser> =>
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
