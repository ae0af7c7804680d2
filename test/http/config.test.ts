/** What the process says, and how it ends, when it cannot start. */
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { readConfig } from '../../src/config.js'
import { type Exit, spawnGateway, startGateway } from '../support/gateway.js'

const endOf = async (env: Record<string, string>): Promise<Exit & { errors: string; output: string }> => {
  const gateway = spawnGateway(env)
  const exit = await gateway.exit
  return { ...exit, errors: gateway.errors(), output: gateway.output() }
}

describe('a wrong configuration', () => {
  it('ends the process at once with one message that lists every problem and repeats no value', async () => {
    const { code, errors, output } = await endOf({
      PORT: '65536',
      HOST: '0.0.0.0',
      DATABASE_URL: 'mysql://user:secret@host/db',
      AUTH: 'magic',
      AUTH_INSECURE: 'yes',
      AGENT: 'smith',
      MIGRATE: 'never',
      LOG_LEVEL: 'loud',
      POOL_SIZE: '0',
      MAX_MESSAGE_LENGTH: '-1',
      MAX_BODY_BYTES: '1e3',
      SQLITE_SYNCHRONOUS: 'OFF',
      SHUTDOWN_TIMEOUT: 'soon',
    })
    expect(code).toBe(1)
    expect(output).toBe('')
    expect(errors.trimEnd().split('\n')).toEqual([
      'The gateway cannot start:',
      '  PORT must be a whole number from 0 to 65535',
      '  DATABASE_URL must be file:<path> (SQLite), postgresql://<user>:<password>@<host>:<port>/<database> (PostgreSQL) or memory:',
      '  AUTH must be headers',
      '  AUTH_INSECURE must be 1, or unset',
      '  AGENT must be echo or none',
      '  MIGRATE must be auto or check',
      '  LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent',
      '  POOL_SIZE must be a whole number from 1 to 1000',
      '  MAX_MESSAGE_LENGTH must be a whole number from 1 to 100000000',
      '  MAX_BODY_BYTES must be a whole number from 1024 to 1000000000',
      '  SQLITE_SYNCHRONOUS must be NORMAL or FULL',
      '  SHUTDOWN_TIMEOUT must be a whole number of milliseconds from 0 to 3600000',
    ])
  })

  it.each(['0.0.0.0', '::', '192.168.1.1', 'example.com', '127.0.0.1.example.com'])(
    'is header authentication on a host that others reach: %s',
    async (HOST) => {
      expect(() => readConfig({ HOST, PORT: 'x' })).toThrow(
        /PORT must.*\n.*HOST is reachable.*AUTH_INSECURE=1/,
      )
      expect(readConfig({ HOST, AUTH_INSECURE: '1' }).host).toBe(HOST)
    },
  )

  it.each(['file:', 'file:./a.db?mode=ro', 'file::memory:', 'file:a#b', 'postgresql://h/db?schema=x'])(
    'is a database URL that would not mean what it says: %s',
    (DATABASE_URL) => {
      expect(() => readConfig({ DATABASE_URL })).toThrow(/\n {2}DATABASE_URL must/)
    },
  )

  it.each(['127.0.0.1', '127.1.2.3', '::1', 'localhost'])('is no loopback host: %s', (HOST) => {
    expect(readConfig({ HOST }).host).toBe(HOST)
  })

  it('is refused by the process too when it is only the host', async () => {
    const { code, errors } = await endOf({ HOST: '0.0.0.0' })
    expect(code).toBe(1)
    expect(errors).toMatch(/^The gateway cannot start:\n {2}HOST is reachable from other machines.*\n$/)
  })
})

describe('the configuration', () => {
  it('has a default for everything, and an empty variable is unset', () => {
    const empty = { PORT: '', HOST: '', DATABASE_URL: '', AUTH: '', LOG_LEVEL: '', MAX_BODY_BYTES: '' }
    expect(readConfig(empty)).toEqual(readConfig({}))
    expect(readConfig({})).toMatchObject({
      port: 4000,
      host: '127.0.0.1',
      database: { provider: 'sqlite', url: 'file:./data/artifactr.db' },
      migrate: 'auto',
      maxMessageLength: 65_536,
    })
  })

  it('takes every kind of database', () => {
    const providerOf = (DATABASE_URL: string) => readConfig({ DATABASE_URL }).database.provider
    expect(['memory:', 'file:x.db', 'postgres://h/d', 'postgresql://u:p@h:5432/d'].map(providerOf)).toEqual([
      'memory',
      'sqlite',
      'postgresql',
      'postgresql',
    ])
  })

  it('lets a body hold the longest message unless told otherwise', () => {
    const { limits } = readConfig({ MAX_MESSAGE_LENGTH: '1000000' })
    expect(limits.maxBodyBytes).toBeGreaterThan(6_000_000)
  })
})

describe('the limits', () => {
  const variables = {
    MAX_DOCUMENT_TOKENS: 'maxTokens',
    MAX_DEPTH: 'maxDepth',
    MAX_ALIASES: 'maxAliases',
    MAX_COST: 'maxCost',
    MAX_BATCH: 'maxBatch',
    OPERATION_TIMEOUT: 'operationTimeout',
    MAX_SUBSCRIPTIONS_PER_TENANT: 'maxSubscriptionsPerTenant',
    MAX_SUBSCRIPTIONS_PER_ACTOR: 'maxSubscriptionsPerActor',
    MUTATION_RATE: 'mutationRate',
    MUTATION_BURST: 'mutationBurst',
  } as const

  it.each(Object.entries(variables))('has %s for %s', (variable, name) => {
    expect(readConfig({ [variable]: '7' }).limits[name]).toBe(7)
    expect(readConfig({}).limits[name]).toBeUndefined()
    expect(() => readConfig({ [variable]: '-1' })).toThrow(`${variable} must be a whole number`)
  })

  it('has switches for introspection, GraphiQL and documents that are not trusted', () => {
    expect(readConfig({})).toMatchObject({ introspection: true, graphiql: true, trustedDocuments: null })
    const off = { INTROSPECTION: '0', GRAPHIQL: '0', TRUSTED_DOCUMENTS: 'x.json' }
    expect(readConfig(off)).toMatchObject({
      introspection: false,
      graphiql: false,
      trustedDocuments: { path: 'x.json', only: true },
    })
    const also = readConfig({ ...off, TRUSTED_DOCUMENTS_ONLY: '0' })
    expect(also.trustedDocuments).toEqual({ path: 'x.json', only: false })
    expect(() => readConfig({ GRAPHIQL: 'yes' })).toThrow('GRAPHIQL must be 1 or 0')
  })
})

describe('a start that fails', () => {
  it('names a database that does not answer, without its password', async () => {
    const { code, errors } = await endOf({ DATABASE_URL: 'postgresql://user:secret@127.0.0.1:1/db' })
    expect(code).toBe(1)
    expect(errors).toMatch(/^The gateway cannot start:\n {2}DATABASE_URL .*127\.0\.0\.1:1.*\n$/)
    expect(errors).not.toContain('secret')
  })

  it('names a port that is taken', async () => {
    const taken = createServer()
    await new Promise<void>((resolve) => taken.listen(0, '127.0.0.1', resolve))
    const address = taken.address()
    const port = typeof address === 'object' ? String(address?.port) : ''
    const { code, errors } = await endOf({ PORT: port })
    taken.close()
    expect(code).toBe(1)
    expect(errors).toMatch(
      new RegExp(`^The gateway cannot start:\\n {2}PORT ${port} on HOST 127.0.0.1.*\\n$`),
    )
  })
})

describe('a start that succeeds', () => {
  it('says on one line where to go', async () => {
    const gateway = await startGateway()
    const told = gateway.log().filter(({ msg }) => msg.includes('open '))
    expect(told.map(({ msg }) => msg)).toEqual([`listening: open ${gateway.url}/graphql`])
    expect(gateway.errors()).toBe('')
  })
})
