/** A request that is under way for as long as a test wants: its headers and half of its body are sent. */
import { connect, type Socket } from 'node:net'
import { until } from './gateway.js'

export interface UnderWay {
  readonly socket: Socket
  /** Sends the rest. */
  finish(): void
  /** Everything that came back, once the connection is over. */
  readonly answer: Promise<string>
}

export const beginRequest = async (url: string, body: string): Promise<UnderWay> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  socket.on('error', () => undefined)
  const answer = new Promise<string>((resolve) => socket.once('close', () => resolve(received)))
  const head = [
    'POST /graphql HTTP/1.1',
    `host: ${hostname}`,
    'content-type: application/json',
    `content-length: ${body.length}`,
    'expect: 100-continue',
  ]
  socket.write(`${head.join('\r\n')}\r\n\r\n`)
  // The server has read the headers when it asks for the body.
  await until(20_000, 'the server to ask for the body', () => received.includes('100 Continue') || null)
  socket.write(body.slice(0, 10))
  return { socket, finish: () => void socket.write(body.slice(10)), answer }
}

/** Waits until a gateway takes no more connections. */
export const refusesConnections = (url: string): Promise<true> =>
  until(20_000, 'the server to take no more connections', async () => {
    const response = await fetch(`${url}/health`, { headers: { connection: 'close' } }).catch(() => null)
    return response === null || null
  })

/** Asks whether a gateway is ready, on a connection that is there already: all but the last line of the request is sent. */
export const beginProbe = async (url: string): Promise<{ answer(): Promise<string> }> => {
  const { hostname, port } = new URL(url)
  const socket = connect({ host: hostname, port: Number(port) })
  let received = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    received += text
  })
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  socket.write(`GET /ready HTTP/1.1\r\nhost: ${hostname}\r\n`)
  return {
    answer: () => {
      socket.write('connection: close\r\n\r\n')
      return new Promise((resolve) => socket.once('close', () => resolve(received)))
    },
  }
}
