/** Whether the process lives, and whether it can do its work. */
import type { Storage } from '../storage/port.js'
import { orLate } from './orLate.js'
import { reply } from './reply.js'

export interface Health {
  live(): Response
  ready(): Promise<Response>
  /** From now on it is not ready. */
  stop(): void
  readonly stopping: boolean
}

/** How long the storage may take to answer, in milliseconds. */
const PING_TIMEOUT = 2000

export const createHealth = (storage: Pick<Storage, 'ping'>): Health => {
  let stopping = false
  let asked: Promise<boolean> | undefined
  /** One ping at a time, however many ask. */
  const answers = (): Promise<boolean> => {
    asked ??= orLate(
      PING_TIMEOUT,
      storage.ping().then(
        () => true,
        () => false,
      ),
      false,
    ).finally(() => {
      asked = undefined
    })
    return asked
  }
  return {
    live: () => status(200, 'ok'),
    ready: async () => {
      if (stopping) return status(503, 'stopping')
      const answered = await answers()
      if (stopping) return status(503, 'stopping')
      return answered ? status(200, 'ready') : status(503, 'storage unavailable')
    },
    stop: () => {
      stopping = true
    },
    get stopping() {
      return stopping
    },
  }
}

const status = (code: number, text: string): Response =>
  reply(code, JSON.stringify({ status: text }), {
    'content-type': 'application/json; charset=utf-8',
    'cache-control': 'no-store',
  })
