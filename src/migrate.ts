#!/usr/bin/env node
/** Migrates the database that the configuration names, and ends: for deployments whose gateways only look (`MIGRATE=check`). */
import { Misconfigured, readConfig } from './config.js'
import { migrateStorage } from './storage/open.js'

const run = async (): Promise<string> => {
  const { database } = readConfig(process.env)
  if (database.provider === 'memory') return 'Nothing to migrate: DATABASE_URL is memory:'
  const applied = await migrateStorage(database.url)
  return applied.length === 0 ? 'The database is up to date.' : `Applied: ${applied.join(', ')}`
}

run().then(
  (told) => process.stdout.write(`${told}\n`),
  (error: unknown) => {
    const problems =
      error instanceof Misconfigured ? error.problems : [error instanceof Error ? error.message : error]
    process.stderr.write(`${problems.join('\n')}\n`, () => process.exit(1))
  },
)
