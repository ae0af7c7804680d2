/**
 * Databases on the PostgreSQL that globalSetup.ts found or started.
 *
 * A suite that needs one is written with {@link describePostgres}: it is skipped, with the reason in its name, where
 * no server can be had, and never where CI=true.
 */
import { randomUUID } from 'node:crypto'
import { describe, inject, onTestFinished } from 'vitest'
import { query } from './sql.js'

type PostgresForTests = { url: string; template: string } | { unavailable: string }

declare module 'vitest' {
  interface ProvidedContext {
    postgres: PostgresForTests
  }
}

export interface TestDatabase {
  url: string
  /** Drops the database, whoever is connected. */
  drop(): Promise<void>
}

/** `describe`, if there is a PostgreSQL. */
export function describePostgres(name: string, suite: () => void): void {
  const server = inject('postgres')
  if ('unavailable' in server) describe.skip(`${name} (skipped: ${server.unavailable})`, suite)
  else describe(name, suite)
}

/** The server's maintenance database. */
export function postgresUrl(): string {
  return server().url
}

/** An empty database of its own. */
export function createDatabase(): Promise<TestDatabase> {
  return create(server().url)
}

/** A database of its own with every migration applied, cloned from one that was migrated once. */
export function createMigratedDatabase(): Promise<TestDatabase> {
  const { url, template } = server()
  return create(url, template)
}

function server() {
  const server = inject('postgres')
  if ('unavailable' in server) throw new Error(`there is no PostgreSQL: ${server.unavailable}`)
  return server
}

async function create(serverUrl: string, template?: string): Promise<TestDatabase> {
  const name = `artifactr_test_${randomUUID().replaceAll('-', '')}`
  await query(serverUrl, `CREATE DATABASE ${name}${template === undefined ? '' : ` TEMPLATE ${template}`}`)
  return {
    url: databaseUrl(serverUrl, name),
    drop: async () => {
      await query(serverUrl, `DROP DATABASE IF EXISTS ${name} WITH (FORCE)`)
    },
  }
}

/** The URL of another database on the same server. */
export function databaseUrl(serverUrl: string, name: string): string {
  const url = new URL(serverUrl)
  url.pathname = `/${name}`
  return url.href
}

/** A migrated database of its own for the running test: its URL. */
export async function migratedDatabase(): Promise<string> {
  const { url, drop } = await createMigratedDatabase()
  onTestFinished(drop)
  return url
}
