/** Clients of a gateway: one request and its answer, a stream read for a while, a WebSocket with several operations. */
import { Agent, type IncomingMessage, request } from 'node:http'
import { WebSocket } from 'ws'
import type { HttpAnswer } from './checks.js'
import type { Operation } from './operations.js'
import type { HttpRequest } from './requests.js'
import { toJson } from './values.js'

/** How long an answer may take, in milliseconds. */
const PATIENCE = 20_000

/** How long a stream is read at most, in milliseconds. */
const STREAM_TIME = 150

export class Client {
  readonly #url: string
  readonly #agent = new Agent({ keepAlive: true, maxSockets: 32 })

  constructor(url: string) {
    this.#url = url
  }

  /** Sends a request and reads the answer: to its end, or where that is a stream until there is enough of it. */
  async send(asked: HttpRequest, isEnough: (text: string) => boolean = () => false): Promise<HttpAnswer> {
    const response = await this.#begin(asked)
    const isStream = response.headers['content-type']?.startsWith('text/event-stream') === true
    const timer = isStream ? setTimeout(() => response.destroy(), STREAM_TIME) : undefined
    let text = ''
    response.on('error', () => undefined)
    response.setEncoding('utf8')
    await new Promise<void>((resolve) => {
      response.on('data', (chunk: string) => {
        text += chunk
        if (isStream && isEnough(text)) response.destroy()
      })
      response.once('close', resolve)
    })
    clearTimeout(timer)
    const { statusCode: status = 0, headers } = response
    return { status, contentType: headers['content-type'] ?? '', text }
  }

  close(): void {
    this.#agent.destroy()
  }

  #begin({ method, target, headers, body }: HttpRequest): Promise<IncomingMessage> {
    return new Promise((resolve, reject) => {
      const length = body === undefined ? {} : { 'content-length': Buffer.byteLength(body) }
      const options = { method, headers: { ...headers, ...length }, agent: this.#agent, path: target }
      const sent = request(this.#url, options, resolve)
      sent.setTimeout(PATIENCE, () => sent.destroy(new Error(`no answer within ${PATIENCE} ms`)))
      sent.on('error', reject)
      sent.end(body)
    })
  }
}

/** The results in a stream of Server-Sent Events, as far as they came. */
export const resultsIn = (text: string): unknown[] =>
  text
    .split('\n\n')
    .slice(0, -1)
    .flatMap((block) => {
      const data = /^event: next\n(?:id: \d+\n)?data: (.*)$/s.exec(block)?.[1]
      return data === undefined ? [] : [JSON.parse(data)]
    })

export interface SocketMessage {
  readonly type: string
  readonly id?: string
  // biome-ignore lint/suspicious/noExplicitAny: results of many shapes
  readonly payload?: any
}

export interface Conversation {
  readonly messages: readonly SocketMessage[]
  /** Why the gateway closed it, if it did. */
  readonly code: number | null
}

/** Asks for operations on one WebSocket, and hears what comes until all have an answer, or for a bounded time in milliseconds. */
export const converse = (
  url: string,
  headers: Record<string, string>,
  operations: readonly Operation[],
  time: number,
): Promise<Conversation> => {
  const asking = operations.map((operation, index) =>
    toJson({ type: 'subscribe', id: String(index), payload: operation }),
  )
  const answered = new Set<string | undefined>()
  return speak(url, headers, [toJson({ type: 'connection_init' })], time, (message, say) => {
    if (message.type === 'connection_ack') for (const text of asking) say(text)
    else if (message.id !== undefined) answered.add(message.id)
    return answered.size === operations.length
  })
}

/** Says anything at all. */
export const speak = (
  url: string,
  headers: Record<string, string>,
  said: readonly (string | Uint8Array)[],
  time: number,
  onMessage: (message: SocketMessage, say: (text: string) => void) => boolean = () => false,
): Promise<Conversation> =>
  new Promise((resolve, reject) => {
    const socket = new WebSocket(`${url.replace(/^http/, 'ws')}/graphql`, 'graphql-transport-ws', { headers })
    const messages: SocketMessage[] = []
    let code: number | null = null
    let isEnough = false
    const timer = setTimeout(() => end(), time)
    const end = () => {
      isEnough = true
      socket.terminate()
    }
    socket.on('open', () => {
      for (const text of said) socket.send(text)
    })
    socket.on('message', (data) => {
      const message: SocketMessage = JSON.parse(String(data))
      messages.push(message)
      if (onMessage(message, (text) => socket.send(text))) end()
    })
    socket.on('close', (closed) => {
      clearTimeout(timer)
      if (!isEnough) code = closed
      resolve({ messages, code })
    })
    socket.on('error', (error) => (isEnough ? undefined : reject(error)))
  })
