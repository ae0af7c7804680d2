/**
 * GraphQL over WebSocket, in the `graphql-transport-ws` protocol: subscriptions, and queries and mutations as well, for the same callers as
 * over HTTP. A WebSocket says who it is in the payload of its first message, `connection_init`.
 */
import type { IncomingMessage } from 'node:http'
import type { Duplex } from 'node:stream'
import { GraphQLError } from 'graphql'
import { handleProtocols, makeServer, type Server } from 'graphql-ws'
import { type WebSocket, WebSocketServer } from 'ws'
import { StorageUnavailable } from '../../storage/port.js'
import { IdentityUnavailable, type ResolveActor } from '../identity/auth.js'
import { authenticated } from '../identity/caller.js'
import { credentialHeaders, TooManyCredentials } from '../identity/credentials.js'
import { FOREIGN, type Origins } from '../origins.js'
import { GRAPHQL_PATH } from '../paths.js'
import type { Signals } from '../signals.js'
import type { DocumentOf } from '../trustedDocuments.js'
import { Connection } from './connection.js'
import { messageIn } from './messages.js'
import { type EngineFor, Operations, requestWith } from './operations.js'
import type { Patience } from './streams.js'

/** Listens to the `upgrade` event of Node's own server. */
export type UpgradeListener = (request: IncomingMessage, socket: Duplex, head: Buffer) => void

export interface SocketsOptions {
  readonly engineFor: EngineFor
  readonly documentOf: DocumentOf
  readonly resolveActor: ResolveActor
  readonly origins: Origins
  /** The largest message that is read, in bytes. */
  readonly maxPayload: number
  readonly patience: Patience
  readonly signals: Signals
}

export class Sockets {
  readonly #options: SocketsOptions
  readonly #server: WebSocketServer
  readonly #protocol: Server<Connection>
  readonly #connections = new Set<Connection>()
  #isClosed = false

  constructor(options: SocketsOptions) {
    this.#options = options
    const { maxPayload, engineFor, documentOf, signals } = options
    const operations = new Operations(engineFor, documentOf, signals)
    this.#server = new WebSocketServer({
      noServer: true,
      maxPayload,
      handleProtocols,
      clientTracking: false,
      perMessageDeflate: false,
    })
    this.#protocol = makeServer<Record<string, unknown>, Connection>({
      connectionInitWaitTimeout: options.patience.initTimeout,
      onConnect: ({ extra }) => this.#identify(extra, extra.brought.credentials),
      onSubscribe: ({ extra, subscriptions }) => operations.prepare(extra, Object.keys(subscriptions).length),
      execute: (args) => operations.execute(args),
      subscribe: (args) => operations.subscribe(args),
    })
  }

  upgrade(request: IncomingMessage, socket: Duplex, head: Buffer): void {
    const path = request.url?.split('?')[0]
    if (this.#isClosed) refuseUpgrade(socket, '503 Service Unavailable')
    else if (path !== GRAPHQL_PATH) refuseUpgrade(socket, '404 Not Found')
    else if (this.#isForeign(request)) {
      this.#options.signals.log.info({ closed: true }, 'a WebSocket of a foreign web page was refused')
      refuseUpgrade(socket, '403 Forbidden', `${FOREIGN}\n`)
    } else this.#server.handleUpgrade(request, socket, head, (accepted) => this.#accept(accepted, request))
  }

  /** A browser lets every page open a WebSocket, and asks nobody before. */
  #isForeign({ headers }: IncomingMessage): boolean {
    const { origin = null, host = '', 'sec-fetch-site': site = null } = headers
    return this.#options.origins.isForeign({ origin, host, site: site === null ? null : String(site) })
  }

  /** Takes no other WebSocket and no other operation, and waits for what is under way and has one result. */
  async rest(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#connections].map((connection) => connection.rest()))
  }

  /** Closes every WebSocket, once what is under way on it has its result. */
  async close(): Promise<void> {
    this.#isClosed = true
    await Promise.all([...this.#connections].map((connection) => connection.close(1001, 'Going away')))
  }

  #accept(socket: WebSocket, request: IncomingMessage): void {
    const { patience, signals } = this.#options
    const { log } = signals
    const connection = new Connection(socket, request, patience, signals)
    this.#connections.add(connection)
    // What is wrong with a message or its connection closes it; there is nobody else to tell.
    socket.on('error', (err) => log.debug({ err }, 'a WebSocket failed'))
    const closed = this.#protocol.opened(
      {
        protocol: socket.protocol,
        send: (message) => connection.outlet.send(message),
        close: (code, reason) => socket.close(code, reason),
        onMessage: (take) => {
          socket.on('message', (message) => {
            const text = String(message)
            if (!connection.hears(text)) return
            const taken = connection.hand(messageIn(text), take)
            taken.catch((err: unknown) => this.#fail(connection, err))
          })
        },
      },
      connection,
    )
    socket.once('close', (code, reason) => {
      this.#connections.delete(connection)
      closed(code, String(reason)).catch((err: unknown) => log.error({ err }, 'unforeseen error'))
    })
  }

  #fail({ socket }: Connection, err: unknown): void {
    this.#options.signals.log.error({ err }, 'unforeseen error')
    socket.close(4500, 'Internal server error')
  }

  /** Finds out who it is; the socket of one who may not be anyone is closed. */
  async #identify(connection: Connection, payload: unknown): Promise<boolean> {
    const { socket, upgrade, peer } = connection
    const { resolveActor, signals } = this.#options
    try {
      const request = requestWith(credentialHeaders(upgrade, payload))
      connection.identify(await authenticated(request, peer, resolveActor))
      return true
    } catch (error) {
      if (error instanceof TooManyCredentials) socket.close(4400, error.message)
      else if (error instanceof GraphQLError) socket.close(4401, closeReason(error.message))
      else if (error instanceof StorageUnavailable || error instanceof IdentityUnavailable) {
        signals.log.warn({ err: error }, 'it cannot be found out who asks')
        socket.close(1013, 'Try again later')
      } else this.#fail(connection, error)
      signals.log.info({ closed: true }, 'a WebSocket was refused')
      return false
    }
  }
}

/** Answers an upgrade that is not taken. */
export const refuseUpgrade = (socket: Duplex, status: string, told = ''): void => {
  socket.on('error', () => undefined)
  const type = told === '' ? '' : 'content-type: text/plain; charset=utf-8\r\n'
  const length = `content-length: ${Buffer.byteLength(told)}\r\n`
  socket.end(`HTTP/1.1 ${status}\r\nconnection: close\r\n${type}${length}\r\n${told}`)
}

/** At most 123 bytes, as the protocol has it. */
const closeReason = (message: string): string => (Buffer.byteLength(message) > 123 ? 'Unauthorized' : message)
