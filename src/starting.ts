/** How the process comes by its storage: it tries until the database can be used, for as long as it is worth it. */
import { setTimeout as pause } from 'node:timers/promises'
import type { Logger } from 'pino'
import { type Config, Misconfigured } from './config.js'
import { CannotOpen, openStorage } from './storage/open.js'
import type { Storage } from './storage/port.js'

/** The first and the longest wait before it tries again, in milliseconds. */
const FIRST_BACKOFF = 250
const LONGEST_BACKOFF = 5_000

/**
 * @param url Where it is said meanwhile that the gateway is starting.
 * @throws Misconfigured with one line on why the database cannot be used.
 */
export const openWithin = async (config: Config, log: Logger, url: string): Promise<Storage> => {
  const { database, startTimeout } = config
  if (database.provider === 'memory')
    log.warn('everything is kept in memory, and gone when this process ends')
  const deadline = performance.now() + startTimeout
  for (let tries = 0; ; tries++) {
    try {
      return await open(config, log)
    } catch (error) {
      const delay = Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** tries)
      const mayPass = error instanceof CannotOpen && error.mayPass
      const reason = error instanceof Error ? error.message : String(error)
      if (!mayPass || performance.now() + delay > deadline) {
        const waited = mayPass && tries > 0 ? `, after ${startTimeout} ms (START_TIMEOUT)` : ''
        throw new Misconfigured([`DATABASE_URL cannot be used: ${reason}${waited}`])
      }
      log.warn({ reason, triesAgainIn: delay, url }, 'the database cannot be used yet')
      await pause(delay)
    }
  }
}

const open = (config: Config, log: Logger): Promise<Storage> =>
  openStorage({
    url: config.database.url,
    migrate: config.migrate,
    poolSize: config.poolSize,
    synchronous: config.sqliteSynchronous,
    patience: config.databasePatience,
    maxWaiting: config.maxWaitingWrites,
    onMigrated: (migrations) => log.info({ migrations }, 'the database was migrated'),
    onConnectionError: (err) => log.warn({ err }, 'a connection to the database broke'),
    onUnreadable: ({ scope, seq, error }) =>
      log.error({ ...scope, seq, err: error }, 'a stored event cannot be read'),
  })
