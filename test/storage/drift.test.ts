/**
 * Migrations, from empty, give exactly the tables of schema.prisma: no column, index or key more or less.
 *
 * On SQLite Prisma's engine compares the two itself. It cannot read a PostgreSQL through the driver adapter, so there the catalogs
 * of two databases are compared: one the migrations made, one made by what the engine writes for the whole of schema.prisma.
 */
import { readFileSync } from 'node:fs'
import type { DiffTarget } from '@prisma/schema-engine-wasm'
import { expect, onTestFinished, test } from 'vitest'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { noFilters, type Provider, withSchemaEngine } from '../../src/storage/prisma/schemaEngine.js'
import { emptyDatabases } from '../support/databases.js'
import { createDatabase, createMigratedDatabase, describePostgres } from '../support/postgres.js'
import { openAdapter, query } from '../support/sql.js'

function schemaFor(provider: Provider) {
  const content = readFileSync('prisma/schema.prisma', 'utf8')
  return [{ path: 'schema.prisma', content: content.replace('"postgresql"', `"${provider}"`) }]
}

/** The SQL that leads from there to the tables of schema.prisma. */
async function sqlToSchema(provider: Provider, from: DiffTarget, url: string): Promise<string> {
  const files = schemaFor(provider)
  const connection = await openAdapter(url)
  try {
    const { stdout } = await withSchemaEngine(provider, connection, (engine) =>
      engine.diff({
        from,
        to: { tag: 'schemaDatamodel', files },
        script: true,
        exitCode: null,
        filters: noFilters,
      }),
    )
    return stdout ?? ''
  } finally {
    await connection.dispose()
  }
}

test('the SQLite migrations give the tables of schema.prisma, and nothing is left to do', async () => {
  const url = await emptyDatabases.sqlite()
  await migrate(url)
  const from: DiffTarget = { tag: 'schemaDatasource', files: schemaFor('sqlite'), configDir: '.' }
  expect(await sqlToSchema('sqlite', from, url)).toMatch(/^-- This is an empty migration/)
  await query(url, 'DROP INDEX artifactr_events_type')
  expect(await sqlToSchema('sqlite', from, url)).toContain('CREATE INDEX "artifactr_events_type"')
})

const catalogs = {
  columns: `SELECT table_name, column_name, data_type, is_nullable, column_default, collation_name, is_identity, is_generated
    FROM information_schema.columns WHERE table_schema = 'public' ORDER BY table_name, column_name`,
  indexes: `SELECT tablename, indexdef FROM pg_indexes WHERE schemaname = 'public' ORDER BY indexname`,
  constraints: `SELECT conrelid::regclass::text AS on_table, conname::text AS name, pg_get_constraintdef(oid) AS definition
    FROM pg_constraint WHERE connamespace = 'public'::regnamespace AND contype <> 'n' ORDER BY conname`,
  others: `SELECT proname::text AS name FROM pg_proc WHERE pronamespace = 'public'::regnamespace
    UNION ALL SELECT relname::text FROM pg_class WHERE relnamespace = 'public'::regnamespace AND relkind NOT IN ('r', 'i')`,
}

async function catalogsOf(url: string) {
  const entries = Object.entries(catalogs).map(async ([name, text]) => [name, await query(url, text)])
  return Object.fromEntries(await Promise.all(entries))
}

describePostgres('on PostgreSQL', () => {
  test('the migrations give the tables of schema.prisma, to the last index', async () => {
    const migrated = await createMigratedDatabase()
    onTestFinished(migrated.drop)
    const modelled = await createDatabase()
    onTestFinished(modelled.drop)
    const sql = await sqlToSchema('postgresql', { tag: 'empty' }, modelled.url)
    for (const statement of sql.split(';\n'))
      if (statement.includes('CREATE')) await query(modelled.url, statement)
    await query(migrated.url, 'DROP TABLE _prisma_migrations')

    const expected = await catalogsOf(modelled.url)
    expect(expected.constraints).toHaveLength(sql.match(/PRIMARY KEY/g)?.length ?? 0)
    expect(await catalogsOf(migrated.url)).toEqual(expected)
    await query(migrated.url, 'DROP INDEX artifactr_events_type')
    expect(await catalogsOf(migrated.url)).not.toEqual(expected)
  })
})
