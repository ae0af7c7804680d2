#!/usr/bin/env node
/** The process: configuration, storage, migration, server; and its end. */
import { type Logger, pino } from 'pino'
import { createGateway, type Gateway } from './app.js'
import { type Config, Misconfigured, readConfig } from './config.js'
import { defaultDefinitions } from './core/context.js'
import { headerAuth } from './http/auth.js'
import { listen, type Server } from './http/server.js'
import { MemoryStorage } from './storage/memory.js'
import type { Storage } from './storage/port.js'

const start = async (): Promise<void> => {
  const config = readConfig(process.env)
  const log = openLog(config)
  const storage = await openStorage(config, log)
  const gateway = createGateway({
    storage,
    definitions: { ...defaultDefinitions, maxMessageLength: config.maxMessageLength },
    resolveActor: headerAuth,
    logger: log,
    limits: { maxBodyBytes: config.maxBodyBytes },
  })
  const server = await listen(gateway.handle, config).catch((error: unknown) => {
    throw new Misconfigured([
      `PORT ${config.port} on HOST ${config.host} cannot be listened on: ${messageOf(error)}`,
    ])
  })
  stopOnSignal({ log, gateway, server, storage, timeout: config.shutdownTimeout })
  log.info({ url: server.url, storage: config.database.provider }, `listening: open ${server.url}/graphql`)
}

/** To standard output as Node writes it: pino's own way of writing never ends a process whose log nobody reads any more. */
const openLog = ({ logLevel }: Config): Logger => {
  process.stdout.on('error', () => undefined)
  return pino({ name: 'artifactr-gateway', level: logLevel }, process.stdout)
}

/** Opened, migrated, and known to answer. What belongs to Prisma is only loaded when it is needed. */
const openStorage = async (
  { database: { provider, url }, ...config }: Config,
  log: Logger,
): Promise<Storage> => {
  if (provider === 'memory') {
    log.warn('everything is kept in memory, and gone when this process ends')
    return new MemoryStorage()
  }
  const [{ migrate, pendingMigrations }, { openPrismaStorage }] = await Promise.all([
    import('./storage/prisma/migrate.js'),
    import('./storage/prisma/open.js'),
  ])
  try {
    if (config.migrate === 'auto') {
      const migrations = await migrate(url)
      if (migrations.length > 0) log.info({ migrations }, 'the database was migrated')
    } else {
      const pending = await pendingMigrations(url)
      if (pending.length > 0)
        throw new Misconfigured([
          `DATABASE_URL names a database that is behind, and MIGRATE=check: ${pending.join(', ')} pending`,
        ])
    }
    const storage = await openPrismaStorage({
      url,
      poolSize: config.poolSize,
      synchronous: config.sqliteSynchronous,
      onConnectionError: (err) => log.warn({ err }, 'a connection to the database broke'),
    })
    await storage.ping()
    return storage
  } catch (error) {
    if (error instanceof Misconfigured) throw error
    throw new Misconfigured([`DATABASE_URL cannot be used: ${messageOf(error)}`])
  }
}

interface Running {
  readonly log: Logger
  readonly gateway: Gateway
  readonly server: Server
  readonly storage: Storage
  readonly timeout: number
}

/** How long closing the storage may take once the requests are over, in milliseconds. */
const CLOSING_TIMEOUT = 5000

const stopOnSignal = ({ log, gateway, server, storage, timeout }: Running): void => {
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), timeout + CLOSING_TIMEOUT).unref()
    const [finished] = await Promise.all([server.stop(timeout), gateway.close()])
    await storage.close()
    if (finished) log.info('stopped')
    else log.warn('stopped, with requests that did not finish in time')
    process.exit(finished ? 0 : 1)
  }
  let stopping = false
  const onSignal = (signal: NodeJS.Signals): void => {
    if (stopping) process.exit(signal === 'SIGINT' ? 130 : 143)
    stopping = true
    stop(signal).catch((err: unknown) => {
      log.error({ err }, 'could not stop in order')
      process.exit(1)
    })
  }
  process.on('SIGTERM', onSignal)
  process.on('SIGINT', onSignal)
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

start().catch((error: unknown) => {
  const told =
    error instanceof Misconfigured ? error.message : error instanceof Error ? error.stack : String(error)
  process.stderr.write(`${told}\n`, () => process.exit(1))
})
