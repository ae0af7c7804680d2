/** Connections that speak HTTP by hand, so that they can also speak it badly, and need not read what they are answered. */
import { connect, type Socket } from 'node:net'
import { onTestFinished } from 'vitest'

export interface RawConnection {
  readonly socket: Socket
  /** Resolves when it is over. */
  readonly closed: Promise<void>
  /** How many bytes were taken so far. */
  length(): number
  /** The last of them. */
  end(): string
  /** Takes at least so many more, unless it ends, and stops again. */
  take(bytes: number): Promise<void>
}

/** How much of the end is kept, in bytes. */
const KEPT = 1_000

/** Takes nothing of what comes before it is told to. */
export const openRaw = async (url: string): Promise<RawConnection> => {
  const { hostname, port } = new URL(url)
  const socket = connect(Number(port), hostname)
  onTestFinished(() => void socket.destroy())
  socket.on('error', () => undefined)
  let length = 0
  let end = ''
  socket.on('data', (piece) => {
    length += piece.length
    end = `${end}${piece}`.slice(-KEPT)
  })
  socket.pause()
  const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
  await new Promise<void>((resolve) => socket.once('connect', resolve))
  const take = (bytes: number) =>
    new Promise<void>((resolve) => {
      const enough = length + bytes
      const onData = () => {
        if (length < enough) return
        socket.pause()
        onEnd()
      }
      const onEnd = () => {
        socket.off('data', onData).off('close', onEnd)
        resolve()
      }
      socket.on('data', onData).on('close', onEnd)
      socket.resume()
    })
  return { socket, closed, length: () => length, end: () => end, take }
}

/** A request as it is sent. */
export const rawRequest = (body: object, headers: Record<string, string> = {}): string => {
  const text = JSON.stringify(body)
  const own = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`)
  return `POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\n${own.join('')}content-length: ${Buffer.byteLength(text)}\r\n\r\n${text}`
}
