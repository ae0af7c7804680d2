/** One PostgreSQL for the whole test run: the server in TEST_DATABASE_URL, or one of our own, which is gone afterwards. */
import { randomUUID } from 'node:crypto'
import type { TestProject } from 'vitest/node'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { type Server, startPostgres } from './embeddedPostgres.js'
import { databaseUrl } from './postgres.js'
import { query } from './sql.js'

export default async function setup(project: TestProject): Promise<(() => Promise<void>) | undefined> {
  const { TEST_DATABASE_URL: given, CI } = process.env
  let server: Server
  try {
    server = given ? { url: given, stop: async () => undefined } : await startPostgres()
  } catch (error) {
    if (CI === 'true') throw error
    const unavailable = error instanceof Error ? error.message.trim() : String(error)
    console.warn(`Tests that need PostgreSQL are skipped, there is none: ${unavailable}`)
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
    await server.stop()
    throw error
  }
  project.provide('postgres', { url: server.url, template })
  return stop
}
