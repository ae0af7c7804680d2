#!/usr/bin/env node
/** The process: configuration, server, storage, gateway; and its end. */
import type { Logger } from 'pino'
import { createGateway, type Gateway } from './app.js'
import { type Config, Misconfigured, readConfig } from './config.js'
import { type Drain, prepareEnding } from './ending.js'
import { createLog } from './http/errorLog.js'
import { headerAuth, insecureHeaderAuth, type ResolveActor } from './http/identity/auth.js'
import { jwtAuth } from './http/identity/jwt.js'
import { orLate } from './http/orLate.js'
import { listen, type Server } from './http/server.js'
import { createFront, type Front } from './http/starting.js'
import {
  InvalidTrustedDocuments,
  readTrustedDocuments,
  type TrustedDocuments,
} from './http/trustedDocuments.js'
import type { Agent } from './runner/agent.js'
import { echoAgent } from './runner/agents/echo.js'
import { openWithin } from './starting.js'
import type { Storage } from './storage/port.js'
import type { Traces } from './tracing/sdk.js'

const start = async (): Promise<void> => {
  const config = readConfig(process.env)
  const log = openLog(config)
  const trustedDocuments = trustedDocumentsIn(config)
  const ending = prepareEnding(log)
  const front = createFront()
  const server = await listen(front, config).catch((error: unknown) => {
    throw new Misconfigured([
      `PORT ${config.port} on HOST ${config.host} cannot be listened on: ${messageOf(error)}`,
    ])
  })
  const probes = await listenForProbes(config)
  const traces = await openTraces(config, log)
  const storage = await openWithin(config, log, server.url)
  const gateway = withTrustedDocuments(() =>
    createGateway({
      storage,
      maxMessageLength: config.maxMessageLength,
      maxArtifactSize: config.maxArtifactSize,
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
  front.serve(gateway)
  probes?.front.serve({ handle: gateway.handleProbes, upgrade: (_, socket) => void socket.destroy() })
  ending.after(drainOf({ log, gateway, server, storage, traces, timeout: config.shutdownTimeout }))
  log.info(
    { url: server.url, probes: probes?.server.url, storage: config.database.provider },
    `listening: open ${server.url}/graphql`,
  )
}

/** Answers for as long as the process lives, also while it starts and stops. */
const listenForProbes = async ({ metrics }: Config): Promise<{ front: Front; server: Server } | null> => {
  if (metrics.own === null) return null
  const { port, host } = metrics.own
  const front = createFront()
  const server = await listen(front, { port, host }).catch((error: unknown) => {
    throw new Misconfigured([`METRICS_PORT ${port} on ${host} cannot be listened on: ${messageOf(error)}`])
  })
  return { front, server }
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
  return createLog(logLevel)
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

/** How long it may take, once the requests are over or out of time, to stop turns, end streams and close the storage, in milliseconds. */
const CLOSING_TIMEOUT = 5_000

/** How long sending the last spans may take of that, in milliseconds. */
const FLUSH_TIMEOUT = 2_000

/** How long connections may take to end once nothing is under way on them, in milliseconds. */
const PARTING = 1_000

/**
 * No more connections are taken; requests are finished; turns are stopped, or left to others; streams end; the storage is closed. In this
 * order: what comes later serves what comes before.
 */
const drainOf =
  ({ log, gateway, server, storage, traces, timeout }: Running): Drain =>
  () => {
    const inOrder = async (): Promise<boolean> => {
      server.refuse()
      await gateway.close({ timeout })
      const isFinished = await server.stop(PARTING)
      await storage.close()
      if (traces !== null && !(await orLate(FLUSH_TIMEOUT, isDone(traces.stop()), false)))
        log.warn('the last traces could not be sent')
      return isFinished
    }
    return orLate(timeout + CLOSING_TIMEOUT, inOrder(), false)
  }

const isDone = (work: Promise<void>): Promise<boolean> =>
  work.then(
    () => true,
    () => false,
  )

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

start().catch((error: unknown) => {
  const told =
    error instanceof Misconfigured ? error.message : error instanceof Error ? error.stack : String(error)
  process.stderr.write(`${told}\n`, () => process.exit(1))
})
