/**
 * The configuration: environment variables, parsed once. All problems are found at once, and each names its variable and what it takes.
 * Values are not repeated in them, since a mistyped one may be a secret. An empty variable counts as unset.
 */
import { z } from 'zod'

/** Why the gateway cannot start: everything that is wrong, for people. */
export class Misconfigured extends Error {
  override readonly name = 'Misconfigured'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(['The gateway cannot start:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
    this.problems = problems
  }
}

const wholeNumber = (least: number, most: number, unit = '') => {
  const expected = `must be a whole number${unit} from ${least} to ${most}`
  return z
    .string()
    .regex(/^\d{1,15}$/, expected)
    .transform(Number)
    .refine((value) => value >= least && value <= most, expected)
}

const oneOf = <const Names extends readonly [string, ...string[]]>(names: Names, expected?: string) =>
  z.enum(names, { error: `must be ${expected ?? names.join(' or ')}` })

const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

const databaseUrl = z
  .string()
  .refine(
    (url) => url === 'memory:' || url.startsWith('file:') || isPostgresUrl(url),
    'must be file:<path> (SQLite), postgresql://<user>:<password>@<host>:<port>/<database> (PostgreSQL) or memory:',
  )
  .refine(
    (url) => !url.startsWith('file:') || /^file:(?!:memory:)[^?#]+$/.test(url),
    'must have a path after file: and no parameters; for a database in memory it is memory:',
  )
  .refine(
    (url) => !isPostgresUrl(url) || !new URL(url).searchParams.has('schema'),
    'must not have the parameter schema: tables are in the first schema of the search path',
  )

const isPostgresUrl = (url: string): boolean => /^postgres(ql)?:\/\//.test(url) && URL.canParse(url)

const DEFAULT_MAX_MESSAGE_LENGTH = 65_536

const variables = {
  PORT: wholeNumber(0, 65_535).default(4000),
  HOST: z.string().regex(/^\S+$/, 'must be a host name or an address').default('127.0.0.1'),
  DATABASE_URL: databaseUrl.default('file:./data/artifactr.db'),
  AUTH: oneOf(['headers']).default('headers'),
  AUTH_INSECURE: oneOf(['1', '0'], '1, or unset').default('0'),
  AGENT: oneOf(['echo', 'none']).default('echo'),
  MIGRATE: oneOf(['auto', 'check']).default('auto'),
  LOG_LEVEL: oneOf(logLevels, `one of ${logLevels.join(', ')}`).default('info'),
  POOL_SIZE: wholeNumber(1, 1000).default(10),
  MAX_MESSAGE_LENGTH: wholeNumber(1, 100_000_000).default(DEFAULT_MAX_MESSAGE_LENGTH),
  MAX_BODY_BYTES: wholeNumber(1024, 1_000_000_000).optional(),
  MAX_DOCUMENT_TOKENS: wholeNumber(1, 1_000_000).optional(),
  MAX_DEPTH: wholeNumber(1, 1000).optional(),
  MAX_ALIASES: wholeNumber(0, 1_000_000).optional(),
  MAX_COST: wholeNumber(1, 1_000_000_000).optional(),
  MAX_BATCH: wholeNumber(1, 1000).optional(),
  OPERATION_TIMEOUT: wholeNumber(1, 3_600_000, ' of milliseconds').optional(),
  MAX_SUBSCRIPTIONS_PER_TENANT: wholeNumber(1, 10_000_000).optional(),
  MAX_SUBSCRIPTIONS_PER_ACTOR: wholeNumber(1, 10_000_000).optional(),
  MUTATION_RATE: wholeNumber(0, 1_000_000).optional(),
  MUTATION_BURST: wholeNumber(1, 1_000_000).optional(),
  INTROSPECTION: oneOf(['1', '0']).optional(),
  GRAPHIQL: oneOf(['1', '0']).optional(),
  TRUSTED_DOCUMENTS: z.string().optional(),
  TRUSTED_DOCUMENTS_ONLY: oneOf(['1', '0']).default('1'),
  SQLITE_SYNCHRONOUS: oneOf(['NORMAL', 'FULL']).default('NORMAL'),
  SHUTDOWN_TIMEOUT: wholeNumber(0, 3_600_000, ' of milliseconds').default(10_000),
}

export type Environment = Readonly<Record<string, string | undefined>>

type Provider = 'memory' | 'sqlite' | 'postgresql'

interface Limits {
  readonly maxBodyBytes: number
  readonly maxTokens: number | undefined
  readonly maxDepth: number | undefined
  readonly maxAliases: number | undefined
  readonly maxCost: number | undefined
  readonly maxBatch: number | undefined
  readonly operationTimeout: number | undefined
  readonly maxSubscriptionsPerTenant: number | undefined
  readonly maxSubscriptionsPerActor: number | undefined
  readonly mutationRate: number | undefined
  readonly mutationBurst: number | undefined
}

export interface Config {
  readonly port: number
  readonly host: string
  readonly database: { readonly provider: Provider; readonly url: string }
  readonly auth: 'headers'
  readonly agent: 'echo' | 'none'
  readonly migrate: 'auto' | 'check'
  readonly logLevel: (typeof logLevels)[number]
  /** The most connections to a PostgreSQL database. */
  readonly poolSize: number
  /** In UTF-16 units. */
  readonly maxMessageLength: number
  /** What is left out is as `createGateway` has it. */
  readonly limits: Limits
  readonly introspection: boolean
  readonly graphiql: boolean
  /** The file they are in, and whether nothing else is carried out. */
  readonly trustedDocuments: { readonly path: string; readonly only: boolean } | null
  readonly sqliteSynchronous: 'NORMAL' | 'FULL'
  /** How long requests under way may take to finish once the gateway was told to stop, in milliseconds. */
  readonly shutdownTimeout: number
}

/** @throws Misconfigured with every problem there is. */
export const readConfig = (env: Environment): Config => {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  )
  const { success, data, error } = z.object(variables).safeParse(given)
  const exposed = exposureProblem(given)
  const problems = [
    ...(error?.issues.map(({ path, message }) => `${path.join('.')} ${message}`) ?? []),
    ...(exposed === null ? [] : [exposed]),
  ]
  if (!success || problems.length > 0) throw new Misconfigured(problems)
  return {
    port: data.PORT,
    host: data.HOST,
    database: { provider: providerOf(data.DATABASE_URL), url: data.DATABASE_URL },
    auth: data.AUTH,
    agent: data.AGENT,
    migrate: data.MIGRATE,
    logLevel: data.LOG_LEVEL,
    poolSize: data.POOL_SIZE,
    maxMessageLength: data.MAX_MESSAGE_LENGTH,
    limits: {
      maxBodyBytes: data.MAX_BODY_BYTES ?? defaultBodyBytes(data.MAX_MESSAGE_LENGTH),
      maxTokens: data.MAX_DOCUMENT_TOKENS,
      maxDepth: data.MAX_DEPTH,
      maxAliases: data.MAX_ALIASES,
      maxCost: data.MAX_COST,
      maxBatch: data.MAX_BATCH,
      operationTimeout: data.OPERATION_TIMEOUT,
      maxSubscriptionsPerTenant: data.MAX_SUBSCRIPTIONS_PER_TENANT,
      maxSubscriptionsPerActor: data.MAX_SUBSCRIPTIONS_PER_ACTOR,
      mutationRate: data.MUTATION_RATE,
      mutationBurst: data.MUTATION_BURST,
    },
    introspection: data.INTROSPECTION !== undefined ? data.INTROSPECTION === '1' : data.AUTH === 'headers',
    graphiql: data.GRAPHIQL !== undefined ? data.GRAPHIQL === '1' : data.AUTH === 'headers',
    trustedDocuments:
      data.TRUSTED_DOCUMENTS === undefined
        ? null
        : { path: data.TRUSTED_DOCUMENTS, only: data.TRUSTED_DOCUMENTS_ONLY === '1' },
    sqliteSynchronous: data.SQLITE_SYNCHRONOUS,
    shutdownTimeout: data.SHUTDOWN_TIMEOUT,
  }
}

const providerOf = (url: string): Provider => {
  if (url === 'memory:') return 'memory'
  return url.startsWith('file:') ? 'sqlite' : 'postgresql'
}

/** The longest message always fits: each UTF-16 unit takes at most six bytes of JSON (`\uXXXX`). */
const defaultBodyBytes = (maxMessageLength: number): number =>
  Math.max(1_048_576, 6 * maxMessageLength + 65_536)

const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || /^127(\.\d{1,3}){3}$/.test(host)

/** Anyone who reaches a gateway that trusts headers can be anyone. Looked at whatever else is wrong. */
const exposureProblem = ({
  HOST = '127.0.0.1',
  AUTH = 'headers',
  AUTH_INSECURE,
}: Environment): string | null =>
  AUTH !== 'headers' || isLoopback(HOST) || AUTH_INSECURE === '1'
    ? null
    : 'HOST is reachable from other machines while AUTH=headers lets every caller say who it is: use a loopback ' +
      'address such as 127.0.0.1, or set AUTH_INSECURE=1 if only trusted callers reach it'
