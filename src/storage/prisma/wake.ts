/**
 * How processes on one PostgreSQL tell each other of commits: `NOTIFY` after the commit and outside its transaction, so that no commit waits
 * for it, and a connection of each process that listens. A notification carries a scope and nothing else, and may get lost: who follows looks
 * for itself now and then, and at once when the listening connection is back.
 */
import { randomUUID } from 'node:crypto'
import { Client } from 'pg'
import { z } from 'zod'
import { scopeKey } from '../port.js'
import type { WakeUps, Woken } from './dialect.js'

export const CHANNEL = 'artifactr_log'

/** How often followers look where they hear of commits, and where they do not; in milliseconds. */
const POLL_LISTENING = 3_000
const POLL_DEAF = 500

export interface PostgresWakeUpsOptions {
  /** Where the listening connection goes; a pooler that lends out connections for a transaction only would not do. */
  readonly url: string
  /** Sends these notifications, on any connection. */
  readonly send: (channel: string, payloads: readonly string[]) => Promise<unknown>
  readonly woken: Woken
}

export const openPostgresWakeUps = ({ url, send, woken }: PostgresWakeUpsOptions): WakeUps => {
  /** Who tells, so that a process does not wake itself a second time. */
  const origin = randomUUID().slice(0, 8)
  const listener = new Listener(url, {
    heard: (payload) => {
      const { success, data } = payloadSchema.safeParse(payload)
      if (success && data.origin !== origin) woken.one(data.scope)
    },
    isBack: () => woken.all(),
  })
  const untold = new Set<string>()
  let telling: Promise<void> | null = null
  const tell = async (): Promise<void> => {
    while (untold.size > 0) {
      const payloads = [...untold]
      untold.clear()
      const attempt = () => send(CHANNEL, payloads)
      // A connection that broke while idle fails the first statement it is given. Who is not told finds out by itself.
      await attempt()
        .catch(attempt)
        .catch(() => undefined)
    }
    telling = null
  }
  return {
    get pollInterval() {
      return listener.isListening ? POLL_LISTENING : POLL_DEAF
    },
    listen: () => listener.start(),
    // One connection a process is not worth being opened again and again.
    rest: () => undefined,
    notify: (scope) => {
      untold.add(`${origin}${scopeKey(scope)}`)
      telling ??= tell()
    },
    close: async () => {
      listener.stop()
      await telling
    },
  }
}

/** At most about 1 kB, of the 8,000 bytes there may be: an id has at most 255 bytes, and JSON at most doubles them. */
const payloadSchema = z
  .string()
  .transform((payload) => ({ origin: payload.slice(0, 8), key: parsed(payload.slice(8)) }))
  .pipe(z.object({ origin: z.string(), key: z.tuple([z.string(), z.string()]) }))
  .transform(({ origin, key: [tenantId, workspaceId] }) => ({ origin, scope: { tenantId, workspaceId } }))

const parsed = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return null
  }
}

interface Heard {
  heard(payload: string | undefined): void
  /** It listens, for the first time or again. */
  isBack(): void
}

/** How often the listening connection is asked whether it is still there, and how long it may take to say so, in milliseconds. */
const HEARTBEAT = 10_000
const TIMEOUT = 5_000

/** The first and the longest wait before it connects again, in milliseconds. */
const FIRST_BACKOFF = 50
const LONGEST_BACKOFF = 5_000

/** One connection that listens, as long as it is wanted, however often it is lost. */
class Listener {
  readonly #url: string
  readonly #heard: Heard
  #client: Client | null = null
  #isListening = false
  #isWanted = false
  #failures = 0
  #timer: NodeJS.Timeout | undefined

  constructor(url: string, heard: Heard) {
    this.#url = url
    this.#heard = heard
  }

  get isListening(): boolean {
    return this.#isListening
  }

  start(): void {
    if (this.#isWanted) return
    this.#isWanted = true
    void this.#connect()
  }

  stop(): void {
    this.#isWanted = false
    clearTimeout(this.#timer)
    this.#lose(this.#client)
  }

  async #connect(): Promise<void> {
    const client = new Client({
      connectionString: this.#url,
      application_name: 'artifactr-gateway-listener',
      connectionTimeoutMillis: TIMEOUT,
      query_timeout: TIMEOUT,
      keepAlive: true,
    })
    this.#client = client
    client.on('error', () => this.#lose(client))
    client.on('end', () => this.#lose(client))
    client.on('notification', ({ payload }) => this.#heard.heard(payload))
    try {
      await client.connect()
      await client.query(`LISTEN ${CHANNEL}`)
    } catch {
      return this.#lose(client)
    }
    if (this.#client !== client) return
    this.#isListening = true
    this.#failures = 0
    this.#timer = setInterval(() => client.query('SELECT 1').catch(() => this.#lose(client)), HEARTBEAT)
    this.#timer.unref()
    this.#heard.isBack()
  }

  #lose(client: Client | null): void {
    if (client === null || client !== this.#client) return
    this.#client = null
    this.#isListening = false
    clearInterval(this.#timer)
    // An error that comes once it is given up is nobody's.
    client.on('error', () => undefined)
    void client.end().catch(() => undefined)
    if (!this.#isWanted) return
    const delay = Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** this.#failures++)
    this.#timer = setTimeout(() => void this.#connect(), delay * (0.75 + Math.random() / 2)).unref()
  }
}
