/** A way to the database that can be cut. */
import { connect, createServer, type Socket } from 'node:net'
import { setTimeout as pause } from 'node:timers/promises'
import { onTestFinished } from 'vitest'

export interface Proxy {
  /** The database's URL, by way of the proxy. */
  readonly url: string
  /**
   * Keeps what the server answers to a statement that mentions `marker` for itself, and ends the connection in its stead: the statement
   * was carried out, and whoever sent it does not know. Once, and not before `meanwhile` is over.
   */
  swallowAnswerTo(marker: string, meanwhile?: () => Promise<void>): void
  /** How many answers it kept for itself. */
  readonly swallowed: number
  /** From now on nothing gets through, either way, and nobody is told. */
  hold(): void
  /** Ends every connection. New ones get through again. */
  cut(): void
  /** Ends every connection, and takes no new one until it is opened again. */
  close(): void
  open(): Promise<void>
  /** From now on everything takes so much longer, each way, in milliseconds. */
  delay(milliseconds: number): void
  /** How many connections there were. */
  readonly connections: number
}

/** @param at The port it takes; a free one unless given. Opened by a test, it is gone when the test is over, unless the caller ends it. */
export const openProxy = async (
  databaseUrl: string,
  at = 0,
  owner: 'test' | 'caller' = 'test',
): Promise<Proxy> => {
  const { hostname, port } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let connections = 0
  let marker: string | null = null
  let meanwhile = async () => {}
  let isHeld = false
  let latency = 0
  let swallowed = 0
  /** Passes on what comes in its order, also where what comes later takes less long. */
  const passing = (to: Socket) => {
    let before: Promise<unknown> = Promise.resolve()
    return (chunk: Buffer): void => {
      const due = latency > 0 ? pause(latency) : undefined
      before = before.then(() => due).then(() => to.write(chunk))
    }
  }
  const server = createServer((client) => {
    connections++
    const upstream = connect(Number(port || 5432), hostname)
    const [up, down] = [passing(upstream), passing(client)]
    let swallows = false
    /** The end of what came before, in which a marker may have begun. */
    let begun = Buffer.alloc(0)
    const end = () => {
      client.destroy()
      upstream.destroy()
    }
    for (const socket of [client, upstream]) {
      sockets.add(socket)
      socket.on('error', end).on('close', () => {
        sockets.delete(socket)
        end()
      })
    }
    client.on('data', (chunk) => {
      if (isHeld) return
      const come = Buffer.concat([begun, chunk])
      const isMet = marker !== null && come.includes(marker)
      begun = marker === null || isMet ? Buffer.alloc(0) : come.subarray(-marker.length)
      if (isMet) {
        swallows = true
        marker = null
      }
      up(chunk)
    })
    let ending: Promise<void> | null = null
    upstream.on('data', (chunk) => {
      if (!swallows) {
        if (!isHeld) down(chunk)
      } else if (ending === null) {
        swallowed++
        ending = meanwhile().then(end, end)
      }
    })
  })
  const listen = (port: number) =>
    new Promise<void>((resolve) => server.listen(port, '127.0.0.1', () => resolve()))
  await listen(at)
  const cut = () => {
    isHeld = false
    for (const socket of sockets) socket.destroy()
  }
  const close = () => {
    cut()
    server.close()
  }
  if (owner === 'test') onTestFinished(close)
  const address = server.address()
  const own = typeof address === 'object' && address !== null ? address.port : 0
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${own}`
  return {
    url: url.href,
    swallowAnswerTo: (text, before = async () => {}) => {
      marker = text
      meanwhile = before
    },
    get swallowed() {
      return swallowed
    },
    hold: () => {
      isHeld = true
    },
    cut,
    close,
    open: () => listen(own),
    delay: (milliseconds) => {
      latency = milliseconds
    },
    get connections() {
      return connections
    },
  }
}
