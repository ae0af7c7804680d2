/** A gateway in this process, on a server of its own: for what only its inside can tell. */
import { onTestFinished } from 'vitest'
import type { GatewayOptions } from '../../src/app.js'
import { createGateway } from '../../src/app.js'
import { headerAuth } from '../../src/http/identity/auth.js'
import { listen } from '../../src/http/server.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import type { Storage } from '../../src/storage/port.js'

export interface Logged {
  readonly level: string
  readonly message: unknown
  readonly fields: { readonly [name: string]: unknown }
}

export interface Serving {
  readonly url: string
  readonly storage: Storage
  readonly logged: Logged[]
  /** Closes it as the process does that is told to stop. Whether it was in time. */
  stop(timeout?: number): Promise<boolean>
}

interface ServingOptions extends Partial<GatewayOptions> {
  /** How long a request may take to arrive, in milliseconds. */
  readonly requestTimeout?: number
}

export const serve = async ({ requestTimeout, ...options }: ServingOptions = {}): Promise<Serving> => {
  const logged: Logged[] = []
  const logTo = (level: string) => (fields: unknown, message?: unknown) => {
    if (typeof fields === 'object') logged.push({ level, message, fields: { ...fields } })
  }
  const storage = options.storage ?? new MemoryStorage()
  const gateway = createGateway({
    resolveActor: headerAuth,
    logger: { debug: logTo('debug'), info: logTo('info'), warn: logTo('warn'), error: logTo('error') },
    ...options,
    storage,
  })
  const server = await listen(gateway, {
    host: '127.0.0.1',
    port: 0,
    ...(requestTimeout === undefined ? {} : { requestTimeout }),
  })
  let stopped: Promise<boolean> | undefined
  const stop = async (timeout: number): Promise<boolean> => {
    const [inTime] = await Promise.all([server.stop(timeout), gateway.close()])
    return inTime
  }
  return {
    url: server.url,
    storage,
    logged,
    stop: (timeout = 5_000) => {
      stopped ??= stop(timeout)
      return stopped
    },
  }
}

/** As `serve`, until the test is over. */
export const serving = async (options: ServingOptions = {}): Promise<Serving> => {
  const served = await serve(options)
  onTestFinished(async () => void (await served.stop()))
  return served
}
