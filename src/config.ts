/**
 * The configuration: environment variables, parsed once. All problems are found at once, and each names its variable and what it takes.
 * Values are not repeated in them, since a mistyped one may be a secret. An empty variable counts as unset.
 */
import { z } from 'zod'
import { type JwtOptions, MIN_SECRET_BYTES } from './http/jwt.js'
import { originProblem } from './http/origins.js'
import { isLoopbackHost } from './http/peer.js'

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

const hostName = z.string().regex(/^\S+$/, 'must be a host name or an address')

const otlpEndpoint = z
  .string()
  .refine(
    (url) => /^https?:\/\//i.test(url) && URL.canParse(url),
    'must be the http:// or https:// address of a collector',
  )

/** What is sent is JSON; receivers of OTLP over HTTP take it beside protobuf, those of gRPC do not. */
const otlpProtocol = oneOf(['http/json', 'http/protobuf'])
const isHttpUrl = (url: string): boolean => /^https?:\/\//.test(url) && URL.canParse(url)

const origins = z
  .string()
  .transform((list) => list.split(',').map((origin) => origin.trim()))
  .superRefine((list, context) => {
    const message = list.map(originProblem).find((problem) => problem !== null)
    if (message !== undefined) context.addIssue({ code: 'custom', message: String(message) })
  })

const DEFAULT_MAX_MESSAGE_LENGTH = 65_536

const variables = {
  PORT: wholeNumber(0, 65_535).default(4000),
  HOST: hostName.default('127.0.0.1'),
  DATABASE_URL: databaseUrl.default('file:./data/artifactr.db'),
  AUTH: oneOf(['headers', 'jwt']).default('headers'),
  AUTH_INSECURE: oneOf(['1', '0'], '1, or unset').default('0'),
  JWT_SECRET: z
    .string()
    .refine(
      (secret) => Buffer.byteLength(secret) >= MIN_SECRET_BYTES,
      `must have at least ${MIN_SECRET_BYTES} bytes`,
    )
    .optional(),
  JWT_JWKS_URL: z.string().refine(isHttpUrl, 'must be https://…').optional(),
  JWT_ISSUER: z.string().optional(),
  JWT_AUDIENCE: z.string().optional(),
  JWT_CLOCK_TOLERANCE: wholeNumber(0, 300, ' of seconds').default(5),
  CORS_ORIGINS: origins.optional(),
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
  DATABASE_PATIENCE: wholeNumber(100, 3_600_000, ' of milliseconds').default(5_000),
  MAX_WAITING_WRITES: wholeNumber(2, 1_000_000).default(5_000),
  START_TIMEOUT: wholeNumber(0, 3_600_000, ' of milliseconds').default(60_000),
  SHUTDOWN_TIMEOUT: wholeNumber(0, 3_600_000, ' of milliseconds').default(10_000),
  METRICS: oneOf(['on', 'off']).optional(),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  METRICS_HOST: hostName.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: otlpEndpoint.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: otlpEndpoint.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol.optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol.optional(),
  OTEL_TRACES_EXPORTER: oneOf(['otlp', 'none']).default('otlp'),
  OTEL_SDK_DISABLED: z.string().optional(),
}

export type Environment = Readonly<Record<string, string | undefined>>

type Provider = 'memory' | 'sqlite' | 'postgresql'

type Auth =
  | { readonly by: 'headers'; readonly insecure: boolean }
  | { readonly by: 'jwt'; readonly jwt: JwtOptions }

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
  readonly auth: Auth
  /** Whose web pages may use the gateway, besides its own. */
  readonly corsOrigins: readonly string[]
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
  /** How long a write is tried again while the database is out of reach or busy, in milliseconds. */
  readonly databasePatience: number
  /** The most writes that wait for the database at a time; half as many of one workspace. */
  readonly maxWaitingWrites: number
  /** How long a database that cannot be used yet is waited for at the start, in milliseconds. */
  readonly startTimeout: number
  /** How long requests under way may take to finish once the gateway was told to stop, in milliseconds. */
  readonly shutdownTimeout: number
  /** Whether metrics are collected and served, and where, if it is not at `/metrics` beside everything else. */
  readonly metrics: {
    readonly on: boolean
    readonly own: { readonly host: string; readonly port: number } | null
  }
  /** Whether spans are sent to a collector. Which, and the rest of it, OpenTelemetry's SDK reads from the environment by itself. */
  readonly traces: boolean
}

/** @throws Misconfigured with every problem there is. */
export const readConfig = (env: Environment): Config => {
  const given = Object.fromEntries(
    Object.entries(env).filter(([, value]) => value !== undefined && value !== ''),
  )
  const { success, data, error } = z.object(variables).safeParse(given)
  const problems = [
    ...(error?.issues.map(({ path, message }) => `${path[0]?.toString()} ${message}`) ?? []),
    ...authProblems(given),
    ...metricsProblems(given),
  ]
  if (!success || problems.length > 0) throw new Misconfigured(problems)
  return {
    port: data.PORT,
    host: data.HOST,
    database: { provider: providerOf(data.DATABASE_URL), url: data.DATABASE_URL },
    auth:
      data.AUTH === 'jwt'
        ? { by: 'jwt', jwt: jwtOptions(data) }
        : { by: 'headers', insecure: data.AUTH_INSECURE === '1' },
    corsOrigins: data.CORS_ORIGINS ?? [],
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
    databasePatience: data.DATABASE_PATIENCE,
    maxWaitingWrites: data.MAX_WAITING_WRITES,
    startTimeout: data.START_TIMEOUT,
    shutdownTimeout: data.SHUTDOWN_TIMEOUT,
    metrics: metricsOf(data),
    traces: isTraced(data),
  }
}

const providerOf = (url: string): Provider => {
  if (url === 'memory:') return 'memory'
  return url.startsWith('file:') ? 'sqlite' : 'postgresql'
}

/** The longest message always fits: each UTF-16 unit takes at most six bytes of JSON (`\uXXXX`). */
const defaultBodyBytes = (maxMessageLength: number): number =>
  Math.max(1_048_576, 6 * maxMessageLength + 65_536)

interface JwtVariables {
  readonly JWT_SECRET?: string | undefined
  readonly JWT_JWKS_URL?: string | undefined
  readonly JWT_ISSUER?: string | undefined
  readonly JWT_AUDIENCE?: string | undefined
  readonly JWT_CLOCK_TOLERANCE: number
}

/** There is a secret, or an address of keys with an issuer and an audience: see `jwtProblems`. */
const jwtOptions = ({
  JWT_SECRET: secret,
  JWT_JWKS_URL: jwksUrl = '',
  JWT_ISSUER: issuer,
  JWT_AUDIENCE: audience,
  JWT_CLOCK_TOLERANCE: clockTolerance,
}: JwtVariables): JwtOptions =>
  secret === undefined
    ? { jwksUrl, issuer: issuer ?? '', audience: audience ?? '', clockTolerance }
    : { secret, issuer, audience, clockTolerance }

/** How variables fit together; looked at whatever is wrong with each. */
const authProblems = (given: Environment): string[] => {
  const { AUTH = 'headers' } = given
  if (AUTH === 'jwt') return jwtProblems(given)
  return AUTH === 'headers' ? headersProblems(given) : []
}

const jwtProblems = ({
  JWT_SECRET: secret,
  JWT_JWKS_URL: jwksUrl,
  JWT_ISSUER: issuer,
  JWT_AUDIENCE: audience,
  AUTH_INSECURE,
}: Environment): string[] => {
  const problems: string[] = []
  if ((secret === undefined) === (jwksUrl === undefined))
    problems.push('AUTH=jwt takes JWT_SECRET or JWT_JWKS_URL, one of them')
  if (jwksUrl !== undefined && (issuer === undefined || audience === undefined))
    problems.push(
      'JWT_ISSUER and JWT_AUDIENCE are required with JWT_JWKS_URL: its keys sign tokens for others as well',
    )
  if (jwksUrl !== undefined && isHttpUrl(jwksUrl) && AUTH_INSECURE !== '1' && isTapped(new URL(jwksUrl)))
    problems.push(
      'JWT_JWKS_URL must be https://…, since who can answer in its place can be anyone; or set AUTH_INSECURE=1 if the ' +
        'network between is trusted',
    )
  return problems
}

/** Whether others may be on the way. */
const isTapped = ({ protocol, hostname }: URL): boolean =>
  protocol !== 'https:' && !isLoopbackHost(hostname.replaceAll(/[[\]]/g, ''))

/** Anyone who reaches a gateway that trusts headers can be anyone, and so can whatever web page they look at. */
const headersProblems = (given: Environment): string[] => {
  const { HOST = '127.0.0.1', CORS_ORIGINS = '', AUTH_INSECURE } = given
  const problems: string[] = []
  if (!isLoopbackHost(HOST) && AUTH_INSECURE !== '1')
    problems.push(
      'HOST is reachable from other machines while AUTH=headers lets every caller say who it is: use a loopback ' +
        'address such as 127.0.0.1, or set AUTH_INSECURE=1 if only trusted callers reach it',
    )
  if (CORS_ORIGINS.split(',').some((origin) => origin.trim() === '*'))
    problems.push('CORS_ORIGINS must not be * while AUTH=headers lets every caller say who it is')
  const unused = Object.keys(given).filter((name) => name.startsWith('JWT_') && name in variables)
  if (unused.length > 0) problems.push(`AUTH must be jwt for ${unused.join(', ')} to mean anything`)
  return problems
}

type Parsed = z.infer<z.ZodObject<typeof variables>>

/** What the metrics say is nobody's business but the operator's: where others reach the gateway they are on only if it is said. */
const metricsOf = ({ METRICS, METRICS_PORT, METRICS_HOST, HOST }: Parsed): Config['metrics'] => ({
  on: METRICS === undefined ? METRICS_PORT !== undefined || isLoopbackHost(HOST) : METRICS === 'on',
  own: METRICS_PORT === undefined ? null : { host: METRICS_HOST ?? HOST, port: METRICS_PORT },
})

const metricsProblems = ({ METRICS, METRICS_PORT, METRICS_HOST }: Environment): string[] => {
  if (METRICS_PORT !== undefined && METRICS === 'off')
    return ['METRICS_PORT must not be set while METRICS=off: nothing would be served there']
  return METRICS_HOST !== undefined && METRICS_PORT === undefined
    ? ['METRICS_HOST needs METRICS_PORT: without one, metrics are served where everything else is']
    : []
}

const isTraced = (data: Parsed): boolean =>
  (data.OTEL_EXPORTER_OTLP_ENDPOINT ?? data.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined &&
  data.OTEL_TRACES_EXPORTER === 'otlp' &&
  data.OTEL_SDK_DISABLED?.toLowerCase() !== 'true'
