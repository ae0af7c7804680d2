/** Whatever happens to a gateway, its database or the way to it while clients go on: no acknowledged message is lost or doubled. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, describe, test } from 'vitest'
import { type OwnServer, startPostgres } from '../support/embeddedPostgres.js'
import { admit, type Fault, type Ward } from '../support/patients.js'
import { createMigratedDatabase, describePostgres } from '../support/postgres.js'
import { type Proxy as DatabaseProxy, openProxy } from '../support/proxy.js'
import { inside, ofProcesses, onTheWay, withOneConnection } from './postgresql.js'
import { onSqlite } from './sqlite.js'

const failing = fileURLToPath(new URL('../support/failing.mjs', import.meta.url))

/** What is to be undone in the end, last things first. */
const closing: (() => unknown)[] = []

/** Something that is there only once everything has begun. */
const later = <Value>() => {
  let value: Value | undefined
  return {
    is: (given: Value): Value => {
      value = given
      return given
    },
    get: (): Value => {
      if (value === undefined) throw new Error('it has not begun')
      return value
    },
  }
}

const databaseOfItsOwn = async (): Promise<string> => {
  const { url, drop } = await createMigratedDatabase()
  closing.unshift(drop)
  return url
}

/** A gateway, and what is done to it. */
interface Case {
  readonly faults: Record<string, Fault>
  /** Begins what it needs. Its database, and its environment besides. */
  readonly begin: () => Promise<{ database: string; env?: Record<string, string> }>
}

const network = (): Case => {
  const proxy = later<DatabaseProxy>()
  const begin = async () => {
    const database = await databaseOfItsOwn()
    const { url, close } = proxy.is(await openProxy(database, 0, 'caller'))
    closing.unshift(close)
    return { database, env: { DATABASE_URL: url } }
  }
  return { faults: onTheWay(proxy.get), begin }
}

const postgres = (
  faultsOf: (database: () => string) => Record<string, Fault>,
  env: Record<string, string> = {},
): Case => {
  const url = later<string>()
  return {
    faults: faultsOf(url.get),
    begin: async () => ({ database: url.is(await databaseOfItsOwn()), env }),
  }
}

const processes = (): Case => {
  const server = later<OwnServer>()
  const begin = async () => {
    const { url, stop } = server.is(await startPostgres(true))
    closing.unshift(stop)
    return { database: url, env: { NODE_OPTIONS: `--import ${failing}` } }
  }
  return { faults: ofProcesses(server.get), begin }
}

const file = (): Case => {
  const url = later<string>()
  const begin = async () => {
    const directory = mkdtempSync(path.join(tmpdir(), 'artifactr-faults-'))
    closing.unshift(() => rmSync(directory, { recursive: true, force: true }))
    return { database: url.is(`file:${directory}/artifactr.db`) }
  }
  return { faults: onSqlite(url.get), begin }
}

const admitted = async ({ faults, begin }: Case): Promise<Ward> => {
  const { database, env } = await begin()
  const ward = admit({ env: { DATABASE_URL: database, LOG_LEVEL: 'warn', ...env }, database, faults })
  closing.unshift(() => ward.end())
  return ward
}

const wards = new Map<Case, Promise<Ward>>()
const begin = (cases: readonly Case[]) => () => {
  for (const one of cases) wards.set(one, admitted(one))
}

const wait = { timeout: 180_000 }

const factsOf = (one: Case): void => {
  const names = Object.keys(one.faults)
  test.each(names)('%s', wait, async (name) => {
    await (await wards.get(one))?.sees(name)
  })

  test(`the logs are whole after all of this: ${names.join('; ')}`, wait, async () => {
    await (await wards.get(one))?.whole
  })
}

const onPostgres = [
  network(),
  postgres(inside),
  postgres(withOneConnection, { POOL_SIZE: '1' }),
  processes(),
] as const
const onFiles = [file()]

// All of them at the same time, since most of it is waiting.
beforeAll(begin(onFiles))
afterAll(async () => {
  for (const end of closing) await end()
})

describePostgres('no acknowledged message is lost or doubled on PostgreSQL when', () => {
  beforeAll(begin(onPostgres))
  for (const one of onPostgres) factsOf(one)
})

describe('no acknowledged message is lost or doubled on SQLite when', () => {
  for (const one of onFiles) factsOf(one)
})
