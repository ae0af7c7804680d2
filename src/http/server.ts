/** A Node server around a gateway, and how it stops: nothing new is taken, what is under way is finished, then it is gone. */
import { createServer, type RequestListener } from 'node:http'

export interface Server {
  /** Where it is reached from this machine, such as `http://127.0.0.1:4000`. */
  readonly url: string
  /** Takes no more connections and waits for the requests under way. Whether they finished in time, in milliseconds; else they are cut. */
  stop(timeout: number): Promise<boolean>
}

/** Longer than the idle time of the usual proxies, so that none of them sends a request into a connection that just closes. */
const KEEP_ALIVE_TIMEOUT = 65_000

/** @throws Error as Node's, such as with code `EADDRINUSE`. */
export const listen = async (
  handle: RequestListener,
  { host, port }: { readonly host: string; readonly port: number },
): Promise<Server> => {
  const server = createServer({ keepAliveTimeout: KEEP_ALIVE_TIMEOUT }, handle)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address()
  const actualPort = address !== null && typeof address === 'object' ? address.port : port
  return {
    url: `http://${shownHost(host)}:${actualPort}`,
    stop: (timeout) =>
      new Promise((resolve) => {
        const cut = setTimeout(() => {
          resolve(false)
          server.closeAllConnections()
        }, timeout)
        server.close(() => {
          clearTimeout(cut)
          resolve(true)
        })
      }),
  }
}

const shownHost = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
