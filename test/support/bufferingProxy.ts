/**
 * A reverse proxy that does to responses what proxies do: it holds them back until they are whole, unless `x-accel-buffering: no` asks it not
 * to, and compresses them, unless `cache-control: no-transform` forbids it.
 */
import { createServer, request } from 'node:http'
import { createGzip } from 'node:zlib'
import { onTestFinished } from 'vitest'

export interface BufferingProxy {
  readonly url: string
  /** How many responses it held back, and how many it compressed. */
  readonly held: number
  readonly compressed: number
}

export const openBufferingProxy = async (target: string): Promise<BufferingProxy> => {
  let held = 0
  let compressed = 0
  const server = createServer((asked, answer) => {
    const { method = 'GET', headers } = asked
    const passed = request(`${target}${asked.url}`, { method, headers, agent: false }, (response) => {
      const { 'content-length': _, ...kept } = response.headers
      const compresses = !/no-transform/.test(kept['cache-control'] ?? '')
      const holds = kept['x-accel-buffering'] !== 'no'
      answer.writeHead(
        response.statusCode ?? 502,
        compresses ? { ...kept, 'content-encoding': 'gzip' } : kept,
      )
      if (compresses) compressed++
      const body = compresses ? response.pipe(createGzip()) : response
      if (holds) {
        held++
        const chunks: Buffer[] = []
        body.on('data', (chunk: Buffer) => chunks.push(chunk))
        body.on('end', () => answer.end(Buffer.concat(chunks)))
      } else {
        body.on('data', (chunk: Buffer) => answer.write(chunk))
        body.on('end', () => answer.end())
      }
    })
    passed.on('error', () => answer.destroy())
    answer.on('close', () => passed.destroy())
    asked.pipe(passed)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    get held() {
      return held
    },
    get compressed() {
      return compressed
    },
  }
}
