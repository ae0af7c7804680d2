/** A Node server around a gateway, and how it stops: nothing new is taken, what is under way is finished, then it is gone. */
import { createServer, type RequestListener } from 'node:http'
import { Server as NetServer, type Socket } from 'node:net'
import { orLate } from './orLate.js'
import type { UpgradeListener } from './streams/websocket.js'

export interface Server {
  /** Where it is reached from this machine, such as `http://127.0.0.1:4000`. */
  readonly url: string
  /** Takes no more connections. */
  refuse(): void
  /** As `refuse`, and waits for the requests under way. Whether they finished in time, in milliseconds; else they are cut. */
  stop(timeout: number): Promise<boolean>
}

/** Longer than the idle time of the usual proxies, so that none of them sends a request into a connection that just closes. */
const KEEP_ALIVE_TIMEOUT = 65_000

/** How long a request may take to arrive as a whole, in milliseconds. Node answers it with 408 then, and closes the connection. */
const REQUEST_TIMEOUT = 30_000

/** How many times it is looked in that time whether it is over. */
const LOOKS = 6

/** What is served. */
export interface Served {
  readonly handle: RequestListener
  readonly upgrade: UpgradeListener
}

/**
 * How long connections that are idle are kept while it stops, in milliseconds: a request may be on its way on one. It is answered, and the
 * answer closes the connection.
 */
const IDLE_GRACE = 300

/** How often those that are idle after that are closed, in milliseconds. */
const IDLE_CHECK = 50

/** @throws Error as Node's, such as with code `EADDRINUSE`. */
export const listen = async (
  { handle, upgrade }: Served,
  {
    host,
    port,
    requestTimeout = REQUEST_TIMEOUT,
  }: { readonly host: string; readonly port: number; readonly requestTimeout?: number },
): Promise<Server> => {
  const options = {
    keepAliveTimeout: KEEP_ALIVE_TIMEOUT,
    requestTimeout,
    headersTimeout: requestTimeout,
    connectionsCheckingInterval: requestTimeout / LOOKS,
    // Of two credentials, or two hosts, none is the first one.
    joinDuplicateHeaders: true,
  }
  const server = createServer(options, handle)
  const sockets = new Set<Socket>()
  server.on('connection', (socket) => {
    sockets.add(socket)
    // Node finds it out when it is first asked, and cannot any more of one that has hung up.
    void socket.remoteAddress
    socket.once('close', () => sockets.delete(socket))
  })
  server.on('upgrade', upgrade)
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
  const address = server.address()
  const actualPort = address !== null && typeof address === 'object' ? address.port : port
  let closed: Promise<true> | undefined
  const refuse = (): Promise<true> => {
    closed ??= new Promise((resolve) => {
      const refusedAt = Date.now()
      const idle = setInterval(() => {
        if (Date.now() - refusedAt < IDLE_GRACE) return
        server.closeIdleConnections()
        // Node does not count those as idle that never asked for anything.
        for (const socket of sockets) if (socket.bytesRead === 0) socket.destroy()
      }, IDLE_CHECK)
      // The HTTP server's own close would close idle connections at once.
      NetServer.prototype.close.call(server, () => {
        clearInterval(idle)
        resolve(true)
      })
    })
    return closed
  }
  return {
    url: `http://${shownHost(host)}:${actualPort}`,
    refuse: () => void refuse(),
    stop: async (timeout) => {
      const isFinished = await orLate(timeout, refuse(), false)
      if (!isFinished) for (const socket of sockets) socket.destroy()
      return isFinished
    },
  }
}

const shownHost = (host: string): string => {
  if (host === '0.0.0.0' || host === '::') return 'localhost'
  return host.includes(':') ? `[${host}]` : host
}
