/** WebSockets that speak `graphql-transport-ws` message by message, so that they can also speak it badly. */
import { onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { EVENTS } from './eventStreams.js'
import { until } from './gateway.js'

export interface Message {
  readonly type: string
  readonly id?: string
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of many shapes
  readonly payload?: any
}

export interface Closed {
  readonly code: number
  readonly reason: string
}

export interface SocketClient {
  readonly socket: WebSocket
  readonly messages: readonly Message[]
  /** Resolves when it is closed. */
  readonly closed: Promise<Closed>
  send(message: Message | string): void
  /** Says who it is, and waits to be acknowledged. */
  init(payload?: object): Promise<void>
  /** Asks for an operation; follows the log of workspace w1 from its start unless told otherwise. */
  subscribe(id: string, operation?: { query?: string; variables?: Record<string, unknown> }): void
  /** What came for an operation. */
  of(id: string): Message[]
  /** The places of the envelopes that came for an operation. */
  seqs(id: string): number[]
  come(what: string, isSo: () => boolean, timeout?: number): Promise<void>
  /** Waits until an operation is over, and gives its last message. */
  over(id: string, timeout?: number): Promise<Message>
}

export interface SocketOptions {
  readonly headers?: Record<string, string>
  readonly protocol?: string
  readonly path?: string
}

export const openSocket = async (
  url: string,
  { headers = {}, protocol = 'graphql-transport-ws', path = '/graphql' }: SocketOptions = {},
): Promise<SocketClient> => {
  const socket = new WebSocket(`${url.replace(/^http/, 'ws')}${path}`, protocol, { headers })
  onTestFinished(() => socket.terminate())
  const messages: Message[] = []
  socket.on('message', (data) => messages.push(JSON.parse(String(data))))
  const closed = new Promise<Closed>((resolve) =>
    socket.once('close', (code, reason) => resolve({ code, reason: String(reason) })),
  )
  await new Promise<void>((resolve, reject) => {
    socket.once('open', resolve)
    socket.once('error', reject)
  })
  socket.on('error', () => undefined)
  const client: SocketClient = {
    socket,
    messages,
    closed,
    send: (message) => socket.send(typeof message === 'string' ? message : JSON.stringify(message)),
    init: async (payload) => {
      client.send({ type: 'connection_init', payload })
      await client.come('an acknowledgement', () => messages.some(({ type }) => type === 'connection_ack'))
    },
    subscribe: (id, { query = EVENTS, variables = {} } = {}) =>
      client.send({
        id,
        type: 'subscribe',
        payload: { query, variables: { workspaceId: 'w1', afterSeq: 0, ...variables } },
      }),
    of: (id) => messages.filter((message) => message.id === id),
    seqs: (id) =>
      client.of(id).flatMap(({ payload }) => {
        const seq = payload?.data?.events?.seq
        return typeof seq === 'number' ? [seq] : []
      }),
    come: (what, isSo, timeout = 15_000) => until(timeout, what, () => isSo() || null).then(() => undefined),
    over: async (id, timeout) => {
      const last = () => client.of(id).find(({ type }) => type === 'complete' || type === 'error')
      await client.come(`the end of ${id}`, () => last() !== undefined, timeout)
      return last() ?? { type: 'none' }
    },
  }
  return client
}
