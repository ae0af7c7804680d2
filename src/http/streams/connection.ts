/** One WebSocket: who is at its other end, what is under way on it, and how it ends. */
import type { IncomingMessage } from 'node:http'
import { setImmediate as turn } from 'node:timers/promises'
import type { ExecutionResult, GraphQLError } from 'graphql'
import type { WebSocket } from 'ws'
import type { Caller } from '../../graphql/context.js'
import { atInstant } from '../../graphql/subscriptions/deadline.js'
import { asGraphQLError, presentResult } from '../errors.js'
import type { Exchange } from '../exchange.js'
import { type Peer, peerOf } from '../identity/peer.js'
import type { Ending } from '../observer.js'
import type { Signals } from '../signals.js'
import type { Brought, Message } from './messages.js'
import { Outlet } from './outlet.js'
import { FAREWELL, type Patience, slowConsumer, withoutInternals } from './streams.js'

/** A stream of results that can be made to fail. */
interface Results extends AsyncIterableIterator<ExecutionResult> {
  fail(error: GraphQLError): void
}

/** How long after its credentials expire a WebSocket is closed, in milliseconds: its subscriptions say so first. */
const AFTER_EXPIRY = 1_000

/** How much may be said on a WebSocket before it is acknowledged, in UTF-16 units: `connection_init`, and pings. */
const BEFORE_ACKNOWLEDGED = 65_536

/** How many pings may go unanswered. */
const UNANSWERED = 2

export class Connection {
  readonly socket: WebSocket
  readonly upgrade: IncomingMessage
  readonly peer: Peer
  readonly outlet: Outlet
  #caller: Caller | null = null
  #brought: Brought = {}
  #isClosing = false
  readonly #signals: Signals
  readonly #streams = new Set<Results>()
  readonly #underWay = new Set<Promise<unknown>>()
  readonly #ping: NodeJS.Timeout
  #unanswered = 0
  #unacknowledged = 0
  #cancelExpiry: (() => void) | undefined

  constructor(socket: WebSocket, upgrade: IncomingMessage, patience: Patience, signals: Signals) {
    this.socket = socket
    this.upgrade = upgrade
    this.#signals = signals
    this.peer = peerOf(upgrade.socket)
    this.outlet = new Outlet(socket, patience, () => this.#failStreams(slowConsumer()))
    this.#ping = setInterval(() => this.#askWhetherAlive(), patience.pingEvery).unref()
    socket.on('pong', () => {
      this.#unanswered = 0
    })
    socket.once('close', () => {
      clearInterval(this.#ping)
      this.#cancelExpiry?.()
    })
  }

  /** Who is at its other end; `null` before it has said so. */
  get caller(): Caller | null {
    return this.#caller
  }

  /** What the message brings that is just being taken. */
  get brought(): Brought {
    return this.#brought
  }

  /** Whether a message is to be looked at. Too much of a stranger closes it, and what comes after that is nobody's any more. */
  hears(text: string): boolean {
    if (this.socket.readyState !== this.socket.OPEN) return false
    if (this.#caller !== null) return true
    this.#unacknowledged += text.length
    if (this.#unacknowledged <= BEFORE_ACKNOWLEDGED) return true
    this.socket.close(1009, 'Too much before the acknowledgement')
    return false
  }

  /** Hands a message over. Whoever takes it asks at once for what it brings, which nobody holds after that. */
  hand<Taken>({ text, brought }: Message, take: (text: string) => Taken): Taken {
    this.#brought = brought
    try {
      return take(text)
    } finally {
      this.#brought = {}
    }
  }

  get isClosing(): boolean {
    return this.#isClosing
  }

  /** It has said who it is. Once its credentials expire its subscriptions end by themselves, and then it does. */
  identify(caller: Caller): void {
    this.#caller = caller
    const { expiresAt } = caller
    if (expiresAt === undefined || this.socket.readyState === this.socket.CLOSED) return
    this.#cancelExpiry = atInstant(
      expiresAt + AFTER_EXPIRY,
      () => void this.close(4403, 'Credentials expired'),
    )
  }

  /** Waits for an operation that has one result before the socket is closed. */
  carryOut(operation: Promise<ExecutionResult>): Promise<ExecutionResult> {
    this.#underWay.add(operation)
    return operation.finally(() => this.#underWay.delete(operation))
  }

  /** The results of a subscription as they are sent. It ends alone, by itself, by an error or by its reader. */
  stream(source: AsyncIterable<ExecutionResult>, exchange: Exchange): Results {
    const { log } = this.#signals
    const streams = this.#streams
    const results = source[Symbol.asyncIterator]()
    let failure: GraphQLError | null = null
    const present = (result: ExecutionResult) => {
      const presented = withoutInternals(presentResult(result, exchange, log))
      signals.sent(presented)
      return presented
    }
    const end = async (ending: Ending): Promise<IteratorReturnResult<undefined>> => {
      if (streams.delete(stream)) signals.ended(ending)
      await results.return?.()
      return { done: true, value: undefined }
    }
    const stream: Results = {
      [Symbol.asyncIterator]: () => stream,
      next: async () => {
        try {
          if (failure !== null) throw failure
          const { done, value } = await results.next()
          return done === true ? await end('completed') : { done: false, value: present(value) }
        } catch (error) {
          const told = present({ errors: [asGraphQLError(error)] }).errors?.[0] ?? error
          await end('completed')
          throw told
        }
      },
      return: () => end('dropped'),
      fail: (error) => {
        failure = error
        void end('slow')
      },
    }
    streams.add(stream)
    const signals = this.#signals.streamBegan(exchange, 'websocket')
    return stream
  }

  /** Takes no other operation, and waits until what has one result has it; not for one that nobody can be told of any more. */
  async rest(): Promise<void> {
    this.#isClosing = true
    const { socket } = this
    let isClosed = socket.readyState === socket.CLOSED
    const closed = new Promise<void>((resolve) => {
      socket.once('close', () => {
        isClosed = true
        resolve()
      })
    })
    while (this.#underWay.size > 0 && !isClosed)
      await Promise.race([closed, Promise.allSettled(this.#underWay)])
  }

  /** Lets what has one result finish, and closes. Subscriptions are not completed: a client is to come back for them. */
  async close(code: number, reason: string): Promise<void> {
    const { socket } = this
    if (socket.readyState === socket.CLOSED) return
    const closed = new Promise<void>((resolve) => socket.once('close', () => resolve()))
    await this.rest()
    // What has just ended is still to be sent.
    await turn()
    socket.close(code, reason)
    const farewell = setTimeout(() => socket.terminate(), FAREWELL).unref()
    await closed
    clearTimeout(farewell)
  }

  #failStreams(error: GraphQLError): void {
    for (const stream of [...this.#streams]) stream.fail(error)
  }

  #askWhetherAlive(): void {
    // One that does not read cannot answer, and is dealt with otherwise.
    if (this.socket.readyState !== this.socket.OPEN || this.outlet.isSlow || this.socket.isPaused) return
    if (this.#unanswered++ < UNANSWERED) this.socket.ping()
    else this.socket.terminate()
  }
}
