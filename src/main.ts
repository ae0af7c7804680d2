#!/usr/bin/env node
/** The process: configuration, server, storage, gateway; and its end. */
import { type Logger, pino } from 'pino'
import { createGateway, type Gateway } from './app.js'
import { type Config, Misconfigured, readConfig } from './config.js'
import { type Drain, prepareEnding } from './ending.js'
import { headerAuth } from './http/auth.js'
import { listen, type Server } from './http/server.js'
import { createFront } from './http/starting.js'
import type { Agent } from './runner/agent.js'
import { echoAgent } from './runner/agents/echo.js'
import { openWithin } from './starting.js'
import type { Storage } from './storage/port.js'

const start = async (): Promise<void> => {
  const config = readConfig(process.env)
  const log = openLog(config)
  const ending = prepareEnding(log)
  const front = createFront()
  const server = await listen(front, config).catch((error: unknown) => {
    throw new Misconfigured([
      `PORT ${config.port} on HOST ${config.host} cannot be listened on: ${messageOf(error)}`,
    ])
  })
  const storage = await openWithin(config, log, server.url)
  const gateway = createGateway({
    storage,
    maxMessageLength: config.maxMessageLength,
    agent: agents[config.agent],
    resolveActor: headerAuth,
    logger: log,
    limits: { maxBodyBytes: config.maxBodyBytes },
  })
  front.serve(gateway)
  ending.after(drainOf({ gateway, server, storage, timeout: config.shutdownTimeout }))
  log.info({ url: server.url, storage: config.database.provider }, `listening: open ${server.url}/graphql`)
}

/** To standard output as Node writes it: pino's own way of writing never ends a process whose log nobody reads any more. */
const openLog = ({ logLevel }: Config): Logger => {
  process.stdout.on('error', () => undefined)
  return pino({ name: 'artifactr-gateway', level: logLevel }, process.stdout)
}

const agents: Record<Config['agent'], Agent | undefined> = { echo: echoAgent, none: undefined }

interface Running {
  readonly gateway: Gateway
  readonly server: Server
  readonly storage: Storage
  readonly timeout: number
}

/** How long it may take, once the requests are over or out of time, to stop turns, end streams and close the storage, in milliseconds. */
const CLOSING_TIMEOUT = 5_000

/** How long connections may take to end once nothing is under way on them, in milliseconds. */
const PARTING = 1_000

/**
 * No more connections are taken; requests are finished; turns are stopped, or left to others; streams end; the storage is closed. In this
 * order: what comes later serves what comes before.
 */
const drainOf =
  ({ gateway, server, storage, timeout }: Running): Drain =>
  () => {
    const inOrder = async (): Promise<boolean> => {
      server.refuse()
      await gateway.close({ timeout })
      const isFinished = await server.stop(PARTING)
      await storage.close()
      return isFinished
    }
    const late = new Promise<false>((resolve) => {
      setTimeout(resolve, timeout + CLOSING_TIMEOUT, false)
    })
    return Promise.race([inOrder(), late])
  }

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

start().catch((error: unknown) => {
  const told =
    error instanceof Misconfigured ? error.message : error instanceof Error ? error.stack : String(error)
  process.stderr.write(`${told}\n`, () => process.exit(1))
})
