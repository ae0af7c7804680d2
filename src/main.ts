#!/usr/bin/env node
/** The process: configuration, storage, migration, server; and its end. */
import { type Logger, pino } from 'pino'
import { createGateway, type Gateway } from './app.js'
import { type Config, Misconfigured, readConfig } from './config.js'
import { headerAuth, insecureHeaderAuth, type ResolveActor } from './http/auth.js'
import { serializeError } from './http/errorLog.js'
import { jwtAuth } from './http/jwt.js'
import { listen, type Server } from './http/server.js'
import {
  InvalidTrustedDocuments,
  readTrustedDocuments,
  type TrustedDocuments,
} from './http/trustedDocuments.js'
import type { Agent } from './runner/agent.js'
import { echoAgent } from './runner/agents/echo.js'
import { openStorage } from './storage/open.js'
import type { Storage } from './storage/port.js'
import type { Traces } from './tracing/sdk.js'

const start = async (): Promise<void> => {
  const config = readConfig(process.env)
  const log = openLog(config)
  const trustedDocuments = trustedDocumentsIn(config)
  const traces = await openTraces(config, log)
  const storage = await open(config, log)
  const gateway = withTrustedDocuments(() =>
    createGateway({
      storage,
      maxMessageLength: config.maxMessageLength,
      agent: agents[config.agent],
      resolveActor: resolveActorBy(config.auth),
      cors: { origins: config.corsOrigins },
      logger: log,
      graphiql: config.graphiql,
      introspection: config.introspection,
      trustedDocuments,
      limits: config.limits,
      metrics: !config.metrics.on ? 'off' : config.metrics.own === null ? 'served' : 'collected',
    }),
  )
  const server = await listen(gateway, config).catch((error: unknown) => {
    throw new Misconfigured([
      `PORT ${config.port} on HOST ${config.host} cannot be listened on: ${messageOf(error)}`,
    ])
  })
  const probes = await listenForProbes(gateway, config)
  stopOnSignal({ log, gateway, server, storage, traces, timeout: config.shutdownTimeout })
  log.info(
    { url: server.url, probes: probes?.url, storage: config.database.provider },
    `listening: open ${server.url}/graphql`,
  )
}

/** Answers for as long as the process lives, also while it stops. */
const listenForProbes = async (gateway: Gateway, { metrics }: Config): Promise<Server | null> => {
  if (metrics.own === null) return null
  const { port, host } = metrics.own
  const refuse: Gateway['upgrade'] = (_, socket) => void socket.destroy()
  return listen({ handle: gateway.handleProbes, upgrade: refuse }, { port, host }).catch((error: unknown) => {
    throw new Misconfigured([`METRICS_PORT ${port} on ${host} cannot be listened on: ${messageOf(error)}`])
  })
}

/** The SDK of OpenTelemetry is loaded where spans are to be sent somewhere. */
const openTraces = async ({ traces }: Config, log: Logger): Promise<Traces | null> => {
  if (!traces) return null
  const { startTraces } = await import('./tracing/sdk.js')
  return startTraces({
    serviceName: 'artifactr-gateway',
    onLost: (err) => log.warn({ err }, 'traces could not be sent, and are lost'),
  })
}

/** To standard output as Node writes it: pino's own way of writing never ends a process whose log nobody reads any more. */
const openLog = ({ logLevel }: Config): Logger => {
  process.stdout.on('error', () => undefined)
  return pino(
    { name: 'artifactr-gateway', level: logLevel, serializers: { err: serializeError } },
    process.stdout,
  )
}

const open = async (
  { database, migrate, poolSize, sqliteSynchronous }: Config,
  log: Logger,
): Promise<Storage> => {
  if (database.provider === 'memory')
    log.warn('everything is kept in memory, and gone when this process ends')
  try {
    return await openStorage({
      url: database.url,
      migrate,
      poolSize,
      synchronous: sqliteSynchronous,
      onMigrated: (migrations) => log.info({ migrations }, 'the database was migrated'),
      onConnectionError: (err) => log.warn({ err }, 'a connection to the database broke'),
      onUnreadable: ({ scope, seq, error }) =>
        log.error({ ...scope, seq, err: error }, 'a stored event cannot be read'),
    })
  } catch (error) {
    throw new Misconfigured([`DATABASE_URL cannot be used: ${messageOf(error)}`])
  }
}

const resolveActorBy = (auth: Config['auth']): ResolveActor => {
  switch (auth.by) {
    case 'headers':
      return auth.insecure ? insecureHeaderAuth : headerAuth
    case 'jwt':
      return jwtAuth(auth.jwt)
  }
}

const trustedDocumentsIn = ({ trustedDocuments }: Config): TrustedDocuments | undefined => {
  if (trustedDocuments === null) return undefined
  const { path, only } = trustedDocuments
  return withTrustedDocuments(() => ({ documents: readTrustedDocuments(path), only }))
}

const withTrustedDocuments = <Result>(make: () => Result): Result => {
  try {
    return make()
  } catch (error) {
    if (!(error instanceof InvalidTrustedDocuments)) throw error
    throw new Misconfigured(error.problems.map((problem) => `TRUSTED_DOCUMENTS cannot be used: ${problem}`))
  }
}

const agents: Record<Config['agent'], Agent | undefined> = { echo: echoAgent, none: undefined }

interface Running {
  readonly log: Logger
  readonly gateway: Gateway
  readonly server: Server
  readonly storage: Storage
  readonly traces: Traces | null
  readonly timeout: number
}

/** How long closing the storage, and sending the last spans, may take once the requests are over, in milliseconds. */
const CLOSING_TIMEOUT = 5000

/** How long sending the last spans may take of that, in milliseconds. */
const FLUSH_TIMEOUT = 2000

const stopOnSignal = ({ log, gateway, server, storage, traces, timeout }: Running): void => {
  const stop = async (signal: NodeJS.Signals): Promise<void> => {
    log.info({ signal }, 'stopping')
    setTimeout(() => process.exit(1), timeout + CLOSING_TIMEOUT).unref()
    const [finished] = await Promise.all([server.stop(timeout), gateway.close()])
    await storage.close()
    if ((await traces?.stop(FLUSH_TIMEOUT)) === false) log.warn('the last traces could not be sent')
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
