/**
 * Prisma's schema engine as WebAssembly, on one connection of ours.
 *
 * The engine that Prisma's command line runs is a binary it downloads. This one comes with the packages, keeps the
 * same books (`_prisma_migrations`), and takes a driver adapter. It is handed a single connection and told nothing
 * else, so whoever owns that connection decides in which transaction the engine's statements run.
 */
import { readFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import {
  bindMigrationAwareSqlAdapterFactory,
  type SqlDriverAdapter,
  type SqlQueryable,
} from '@prisma/driver-adapter-utils'
import type { SchemaEngine } from '@prisma/schema-engine-wasm'
import * as bindings from '@prisma/schema-engine-wasm/schema_engine_bg'

export type Provider = 'postgresql' | 'sqlite'

/** Nothing in the database is managed by others, as far as the engine is asked. */
export const noFilters = { externalTables: [], externalEnums: [] }

// Node has it; its type declarations for Node 20 do not.
declare const WebAssembly: {
  instantiate(
    code: Uint8Array,
    imports: Record<string, object>,
  ): Promise<{ instance: { exports: { __wbindgen_start(): void } } }>
}

let loading: Promise<typeof bindings> | null = null

// The package's own entry point imports the .wasm file as a module, which Node 20 refuses.
async function load(): Promise<typeof bindings> {
  const directory = createRequire(import.meta.url).resolve('@prisma/schema-engine-wasm/schema_engine_bg')
  const code = await readFile(directory.replace(/\.js$/, '.wasm'))
  const { instance } = await WebAssembly.instantiate(code, { './schema_engine_bg.js': idleTimers(bindings) })
  bindings.__wbg_set_wasm(instance.exports)
  instance.exports.__wbindgen_start()
  return bindings
}

// The engine never clears the timer that limits its wait for a lock, which would keep a finished process alive
// for ten seconds.
function idleTimers(imports: object): object {
  return Object.fromEntries(
    Object.entries(imports).map(([name, imported]) => [
      name,
      name.startsWith('__wbg_setTimeout_') ? (...args: unknown[]) => imported(...args).unref() : imported,
    ]),
  )
}

/** Runs `work` with an engine whose every statement goes to `connection`. The connection stays open. */
export async function withSchemaEngine<T>(
  provider: Provider,
  connection: SqlDriverAdapter,
  work: (engine: SchemaEngine) => Promise<T>,
): Promise<T> {
  loading ??= load()
  const { SchemaEngine } = await loading
  const engine = await SchemaEngine.new(
    { datamodels: [['schema.prisma', `datasource db { provider = "${provider}" }`]] },
    () => undefined,
    bindMigrationAwareSqlAdapterFactory({
      provider: connection.provider,
      adapterName: connection.adapterName,
      connect: async () => connection,
      connectToShadowDb: () => Promise.reject(new Error('there is no shadow database')),
    }),
  )
  try {
    return await work(engine)
  } finally {
    engine.free()
  }
}

/** An adapter whose statements all run on `queryable`, say an open transaction. Closing that is its owner's affair. */
export function adapterOn(
  queryable: SqlQueryable,
  executeScript: (script: string) => Promise<void>,
): SqlDriverAdapter {
  return {
    provider: queryable.provider,
    adapterName: queryable.adapterName,
    queryRaw: (query) => queryable.queryRaw(query),
    executeRaw: (query) => queryable.executeRaw(query),
    executeScript,
    startTransaction: () => Promise.reject(new Error('the connection is in a transaction already')),
    dispose: async () => undefined,
  }
}
