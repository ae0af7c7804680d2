/**
 * Prisma's configuration: which tables, which migrations and which database follow from DATABASE_URL, as in the gateway itself.
 *
 *     DATABASE_URL=postgresql://… npx prisma migrate status --config prisma/config.ts
 *
 * Prisma takes one provider per schema file. The tables are written once, for PostgreSQL; the schema for SQLite is
 * derived here, beside the clients that are generated from both.
 */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { defineConfig } from 'prisma/config'

const { DATABASE_URL: url = 'file:./data/artifactr.db' } = process.env
const here = fileURLToPath(new URL('.', import.meta.url))

function sqliteSchema(): string {
  const generated = path.join(here, '../src/generated')
  const derived = path.join(generated, 'sqlite.prisma')
  mkdirSync(generated, { recursive: true })
  writeFileSync(
    derived,
    readFileSync(path.join(here, 'schema.prisma'), 'utf8')
      .replace('provider = "postgresql"', 'provider = "sqlite"')
      .replace('"../src/generated/postgresql"', '"./sqlite"'),
  )
  return derived
}

export default url.startsWith('file:')
  ? defineConfig({
      schema: sqliteSchema(),
      migrations: { path: path.join(here, 'migrations/sqlite') },
      datasource: { url: `file:${path.resolve(url.replace(/^file:/, ''))}` },
    })
  : defineConfig({
      schema: path.join(here, 'schema.prisma'),
      migrations: { path: path.join(here, 'migrations/postgresql') },
      datasource: { url },
    })
