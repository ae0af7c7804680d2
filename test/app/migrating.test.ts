/** A database is migrated by a process of its own, for gateways that only look. */
import { execFile } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { describe, expect, test } from 'vitest'
import { emptyDatabases } from '../support/databases.js'
import { post, spawnGateway, startGateway } from '../support/gateway.js'

const program = fileURLToPath(new URL('../../dist/migrate.js', import.meta.url))

const migrateIn = (env: Record<string, string>) =>
  new Promise<{ code: number; stdout: string; stderr: string }>((resolve) => {
    execFile(process.execPath, [program], { env }, (error, stdout, stderr) =>
      resolve({ code: error === null ? 0 : Number(error.code), stdout, stderr }),
    )
  })

describe.each(Object.entries(emptyDatabases))('on %s', (_, emptyDatabase) => {
  test('a gateway that only checks starts on a database that was migrated, and not before', async () => {
    const env = { DATABASE_URL: await emptyDatabase(), MIGRATE: 'check' }
    const refused = spawnGateway(env)
    expect(await refused.exit).toEqual({ code: 1, signal: null })
    expect(refused.errors()).toContain('0005_turns')
    const first = await migrateIn(env)
    expect(first).toEqual({
      code: 0,
      stdout: 'Applied: 0001_initial, 0002_event_scopes, 0003_message_ids, 0004_commands, 0005_turns\n',
      stderr: '',
    })
    expect(await migrateIn(env)).toEqual({ code: 0, stdout: 'The database is up to date.\n', stderr: '' })
    const { url } = await startGateway(env)
    const { body } = await post(url, { query: '{ workspace(workspaceId: "w") { headSeq } }' })
    expect(body).toEqual({ data: { workspace: { headSeq: 0 } } })
  })
})

test('what is in the way of a migration is said in one line, without the password', async () => {
  const { code, stderr } = await migrateIn({
    DATABASE_URL: 'postgresql://someone:secret@127.0.0.1:1/kitchen',
  })
  expect(code).toBe(1)
  expect(stderr).toBe('cannot use the database kitchen at 127.0.0.1:1: nothing answers there\n')
})

test('a storage in memory has nothing to migrate', async () => {
  expect(await migrateIn({ DATABASE_URL: 'memory:' })).toEqual({
    code: 0,
    stdout: 'Nothing to migrate: DATABASE_URL is memory:\n',
    stderr: '',
  })
})
