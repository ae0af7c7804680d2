/** A way to the database that can be cut. */
import { connect, createServer, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface Proxy {
  /** The database's URL, by way of the proxy. */
  readonly url: string
  /**
   * Keeps what the server answers to a statement that mentions `marker` for itself, and ends the connection in its stead: the statement
   * was carried out, and whoever sent it does not know. Once, and not before `meanwhile` is over.
   */
  swallowAnswerTo(marker: string, meanwhile?: () => Promise<void>): void
  /** From now on nothing gets through, either way, and nobody is told. */
  hold(): void
  /** Ends every connection. New ones get through again. */
  cut(): void
  /** How many connections there were. */
  readonly connections: number
}

export const openProxy = async (databaseUrl: string): Promise<Proxy> => {
  const { hostname, port } = new URL(databaseUrl)
  const sockets = new Set<Socket>()
  let connections = 0
  let marker: string | null = null
  let meanwhile = async () => {}
  let isHeld = false
  const server = createServer((client) => {
    connections++
    const upstream = connect(Number(port || 5432), hostname)
    let swallows = false
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
      if (marker !== null && chunk.includes(marker)) {
        swallows = true
        marker = null
      }
      upstream.write(chunk)
    })
    upstream.on('data', (chunk) => {
      if (swallows) return void meanwhile().then(end, end)
      if (!isHeld) client.write(chunk)
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const cut = () => {
    isHeld = false
    for (const socket of sockets) socket.destroy()
  }
  onTestFinished(() => {
    cut()
    server.close()
  })
  const address = server.address()
  const url = new URL(databaseUrl)
  url.host = `127.0.0.1:${typeof address === 'object' ? address?.port : ''}`
  return {
    url: url.href,
    swallowAnswerTo: (text, before = async () => {}) => {
      marker = text
      meanwhile = before
    },
    hold: () => {
      isHeld = true
    },
    cut,
    get connections() {
      return connections
    },
  }
}
