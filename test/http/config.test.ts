/** What the process says, and how it ends, when it cannot start. */
import { createServer } from 'node:net'
import { describe, expect, it } from 'vitest'
import { Misconfigured, readConfig } from '../../src/config.js'
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
      JWT_SECRET: 'secret',
      CORS_ORIGINS: 'everyone',
      AGENT: 'smith',
      MIGRATE: 'never',
      LOG_LEVEL: 'loud',
      POOL_SIZE: '0',
      MAX_MESSAGE_LENGTH: '-1',
      MAX_BODY_BYTES: '1e3',
      SQLITE_SYNCHRONOUS: 'OFF',
      DATABASE_PATIENCE: '99',
      MAX_WAITING_WRITES: '1',
      START_TIMEOUT: '-1',
      SHUTDOWN_TIMEOUT: 'soon',
    })
    expect(code).toBe(1)
    expect(output).toBe('')
    expect(errors.trimEnd().split('\n')).toEqual([
      'The gateway cannot start:',
      '  PORT must be a whole number from 0 to 65535',
      '  DATABASE_URL must be file:<path> (SQLite), postgresql://<user>:<password>@<host>:<port>/<database> (PostgreSQL) or memory:',
      '  AUTH must be headers or jwt',
      '  AUTH_INSECURE must be 1, or unset',
      '  JWT_SECRET must have at least 32 bytes',
      '  CORS_ORIGINS must be origins such as https://app.example.com, with nothing after host and port',
      '  AGENT must be echo or none',
      '  MIGRATE must be auto or check',
      '  LOG_LEVEL must be one of trace, debug, info, warn, error, fatal, silent',
      '  POOL_SIZE must be a whole number from 1 to 1000',
      '  MAX_MESSAGE_LENGTH must be a whole number from 1 to 100000000',
      '  MAX_BODY_BYTES must be a whole number from 1024 to 1000000000',
      '  SQLITE_SYNCHRONOUS must be NORMAL or FULL',
      '  DATABASE_PATIENCE must be a whole number of milliseconds from 100 to 3600000',
      '  MAX_WAITING_WRITES must be a whole number from 2 to 1000000',
      '  START_TIMEOUT must be a whole number of milliseconds from 0 to 3600000',
      '  SHUTDOWN_TIMEOUT must be a whole number of milliseconds from 0 to 3600000',
    ])
  })

  it.each(['0.0.0.0', '::', '::ffff:0.0.0.0', '192.168.1.1', 'example.com', '127.0.0.1.example.com'])(
    'is header authentication on a host that others reach: %s',
    async (HOST) => {
      expect(() => readConfig({ HOST, PORT: 'x' })).toThrow(
        /PORT must.*\n.*HOST is reachable.*AUTH_INSECURE=1/,
      )
      expect(readConfig({ HOST, AUTH_INSECURE: '1' }).host).toBe(HOST)
    },
  )

  const KEYS = 'https://issuer.example/keys'
  const SECRET = 'x'.repeat(32)

  it.each<[string, Record<string, string>, string[]]>([
    ['a token that nothing verifies', {}, ['AUTH=jwt takes JWT_SECRET or JWT_JWKS_URL, one of them']],
    [
      'two ways to verify a token',
      { JWT_SECRET: SECRET, JWT_JWKS_URL: KEYS, JWT_ISSUER: 'i', JWT_AUDIENCE: 'a' },
      ['AUTH=jwt takes JWT_SECRET or JWT_JWKS_URL, one of them'],
    ],
    [
      'a secret that is too short',
      { JWT_SECRET: 'x'.repeat(31) },
      ['JWT_SECRET must have at least 32 bytes'],
    ],
    [
      'keys of others as well',
      { JWT_JWKS_URL: KEYS, JWT_ISSUER: 'i' },
      ['JWT_ISSUER and JWT_AUDIENCE are required with JWT_JWKS_URL: its keys sign tokens for others as well'],
    ],
    [
      'no address of keys, and clocks of another time',
      { JWT_JWKS_URL: 'ldap://keys', JWT_ISSUER: 'i', JWT_AUDIENCE: 'a', JWT_CLOCK_TOLERANCE: '5s' },
      [
        'JWT_JWKS_URL must be https://…',
        'JWT_CLOCK_TOLERANCE must be a whole number of seconds from 0 to 300',
      ],
    ],
    [
      'keys that others may put in the place of the issuer’s',
      { JWT_JWKS_URL: 'http://issuer.example/keys', JWT_ISSUER: 'i', JWT_AUDIENCE: 'a' },
      [
        'JWT_JWKS_URL must be https://…, since who can answer in its place can be anyone; or set AUTH_INSECURE=1 if the ' +
          'network between is trusted',
      ],
    ],
    [
      'tokens that nobody looks at',
      { AUTH: 'headers', JWT_SECRET: SECRET, JWT_CLOCK_TOLERANCE: '5' },
      ['AUTH must be jwt for JWT_SECRET, JWT_CLOCK_TOLERANCE to mean anything'],
    ],
    [
      'every web page being anyone',
      { AUTH: '', CORS_ORIGINS: 'https://a.example, *' },
      ['CORS_ORIGINS must not be * while AUTH=headers lets every caller say who it is'],
    ],
    [
      'origins that are none',
      { JWT_SECRET: SECRET, CORS_ORIGINS: 'https://a.example,https://b.example/' },
      ['CORS_ORIGINS must be origins such as https://app.example.com, with nothing after host and port'],
    ],
  ])('is %s', (_, env, problems) => {
    const problemsOf = () => {
      try {
        readConfig({ AUTH: 'jwt', ...env })
        return []
      } catch (error) {
        return error instanceof Misconfigured ? error.problems : [String(error)]
      }
    }
    expect(problemsOf()).toEqual(problems)
  })

  it.each(['file:', 'file:./a.db?mode=ro', 'file::memory:', 'file:a#b', 'postgresql://h/db?schema=x'])(
    'is a database URL that would not mean what it says: %s',
    (DATABASE_URL) => {
      expect(() => readConfig({ DATABASE_URL })).toThrow(/\n {2}DATABASE_URL must/)
    },
  )

  it.each(['127.0.0.1', '127.1.2.3', '::1', '::ffff:127.0.0.1', 'localhost'])(
    'is no loopback host: %s',
    (HOST) => {
      expect(readConfig({ HOST }).host).toBe(HOST)
    },
  )

  it('is refused by the process too when it is only the host', async () => {
    const { code, errors } = await endOf({ HOST: '0.0.0.0' })
    expect(code).toBe(1)
    expect(errors).toMatch(/^The gateway cannot start:\n {2}HOST is reachable from other machines.*\n$/)
  })
})

describe('the configuration', () => {
  it('an empty address of a database is no wish for the default', () => {
    expect(() => readConfig({ DATABASE_URL: '' })).toThrow('DATABASE_URL must not be empty')
  })

  it('has a default for everything, and an empty variable is unset', () => {
    const empty = { PORT: '', HOST: '', AUTH: '', LOG_LEVEL: '', MAX_BODY_BYTES: '' }
    expect(readConfig(empty)).toEqual(readConfig({}))
    expect(readConfig({})).toMatchObject({
      port: 4000,
      host: '127.0.0.1',
      auth: { by: 'headers', insecure: false },
      corsOrigins: [],
      database: { provider: 'sqlite', url: 'file:./data/artifactr.db' },
      migrate: 'auto',
      maxMessageLength: 65_536,
    })
  })

  it('takes either kind of key for tokens', () => {
    const secret = 'x'.repeat(32)
    const bySecret = readConfig({ AUTH: 'jwt', JWT_SECRET: secret, HOST: '0.0.0.0', CORS_ORIGINS: '*' })
    expect(bySecret).toMatchObject({
      auth: { by: 'jwt', jwt: { secret, clockTolerance: 5 } },
      corsOrigins: ['*'],
    })
    for (const jwksUrl of ['https://i.example/keys', 'http://localhost:1/keys', 'http://[::1]/keys']) {
      const env = { AUTH: 'jwt', JWT_JWKS_URL: jwksUrl, JWT_ISSUER: 'i', JWT_AUDIENCE: 'a' }
      expect(readConfig(env).auth).toMatchObject({ jwt: { jwksUrl, issuer: 'i', audience: 'a' } })
    }
    const JWT_JWKS_URL = 'http://keys.internal/'
    const trusted = { AUTH: 'jwt', AUTH_INSECURE: '1', JWT_JWKS_URL, JWT_ISSUER: 'i', JWT_AUDIENCE: 'a' }
    expect(readConfig(trusted).auth).toMatchObject({ jwt: { jwksUrl: JWT_JWKS_URL } })
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

  it('says how large artifacts may be', () => {
    expect(readConfig({ MAX_ARTIFACT_SIZE: '5' }).maxArtifactSize).toBe(5)
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

  it('has MAX_HELD_BYTES for what all requests hold together', () => {
    expect(readConfig({ MAX_HELD_BYTES: '536870912' }).limits.maxHeldBytes).toBe(536_870_912)
    expect(readConfig({}).limits.maxHeldBytes).toBeUndefined()
    expect(() => readConfig({ MAX_HELD_BYTES: '1000' })).toThrow('MAX_HELD_BYTES must be a whole number')
  })

  it('has switches for introspection, GraphiQL and documents that are not trusted', () => {
    expect(readConfig({})).toMatchObject({ introspection: true, graphiql: true, trustedDocuments: null })
    expect(() => readConfig({ TRUSTED_DOCUMENTS_ONLY: '1' })).toThrow(
      'TRUSTED_DOCUMENTS_ONLY needs TRUSTED_DOCUMENTS',
    )
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
    const { code, errors } = await endOf({
      DATABASE_URL: 'postgresql://user:secret@127.0.0.1:1/db',
      START_TIMEOUT: '0',
    })
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
