/**
 * The configuration: environment variables, parsed once. All problems are found at once, and each names its variable and what it takes.
 * Values are not repeated in them, since a mistyped one may be a secret. An empty variable counts as unset, except
 * `DATABASE_URL`: what was to fill it is missing, and another database is no substitute.
 */
import { misfits } from './config/misfits.js'
import { type Environment, type logLevels, type Variables, variables } from './config/variables.js'
import type { JwtOptions } from './http/identity/jwt.js'
import { isLoopbackHost } from './http/identity/peer.js'
import type { GatewayLimits } from './http/limits/limits.js'

/** Why the gateway cannot start: everything that is wrong, for people. */
export class Misconfigured extends Error {
  override readonly name = 'Misconfigured'
  readonly problems: readonly string[]

  constructor(problems: readonly string[]) {
    super(['The gateway cannot start:', ...problems.map((problem) => `  ${problem}`)].join('\n'))
    this.problems = problems
  }
}

type Provider = 'memory' | 'sqlite' | 'postgresql'

type Auth =
  | { readonly by: 'headers'; readonly insecure: boolean }
  | { readonly by: 'jwt'; readonly jwt: JwtOptions }

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
  /** In values and UTF-16 units of text and keys; as core has it when left out. */
  readonly maxArtifactSize: number | undefined
  /** What is left out is as `createGateway` has it. */
  readonly limits: GatewayLimits
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
  const { success, data, error } = variables.safeParse(given)
  const problems = [
    ...(error?.issues.map(({ path, message }) => `${path[0]?.toString()} ${message}`) ?? []),
    ...(env['DATABASE_URL'] === '' ? ['DATABASE_URL must not be empty: leave it out for the default'] : []),
    ...misfits(given),
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
    maxArtifactSize: data.MAX_ARTIFACT_SIZE,
    limits: {
      maxBodyBytes: data.MAX_BODY_BYTES ?? defaultBodyBytes(data.MAX_MESSAGE_LENGTH),
      maxTokens: data.MAX_DOCUMENT_TOKENS,
      maxDepth: data.MAX_DEPTH,
      maxAliases: data.MAX_ALIASES,
      maxCost: data.MAX_COST,
      maxBatch: data.MAX_BATCH,
      maxResponseBytes: data.MAX_RESPONSE_BYTES,
      maxHeldBytes: data.MAX_HELD_BYTES,
      operationTimeout: data.OPERATION_TIMEOUT,
      maxSubscriptionsPerTenant: data.MAX_SUBSCRIPTIONS_PER_TENANT,
      maxSubscriptionsPerActor: data.MAX_SUBSCRIPTIONS_PER_ACTOR,
      mutationRate: data.MUTATION_RATE,
      mutationBurst: data.MUTATION_BURST,
    },
    introspection: data.INTROSPECTION ?? data.AUTH === 'headers',
    graphiql: data.GRAPHIQL ?? data.AUTH === 'headers',
    trustedDocuments:
      data.TRUSTED_DOCUMENTS === undefined
        ? null
        : { path: data.TRUSTED_DOCUMENTS, only: data.TRUSTED_DOCUMENTS_ONLY },
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

/** There is a secret, or an address of keys with an issuer and an audience: see `misfits`. */
const jwtOptions = ({
  JWT_SECRET: secret,
  JWT_JWKS_URL: jwksUrl = '',
  JWT_ISSUER: issuer,
  JWT_AUDIENCE: audience,
  JWT_CLOCK_TOLERANCE: clockTolerance,
}: Variables): JwtOptions =>
  secret === undefined
    ? { jwksUrl, issuer: issuer ?? '', audience: audience ?? '', clockTolerance }
    : { secret, issuer, audience, clockTolerance }

/** What the metrics say is nobody's business but the operator's: where others reach the gateway they are on only if it is said. */
const metricsOf = ({ METRICS, METRICS_PORT, METRICS_HOST, HOST }: Variables): Config['metrics'] => ({
  on: METRICS ?? (METRICS_PORT !== undefined || isLoopbackHost(HOST)),
  own: METRICS_PORT === undefined ? null : { host: METRICS_HOST ?? HOST, port: METRICS_PORT },
})

const isTraced = (data: Variables): boolean =>
  (data.OTEL_EXPORTER_OTLP_ENDPOINT ?? data.OTEL_EXPORTER_OTLP_TRACES_ENDPOINT) !== undefined &&
  data.OTEL_TRACES_EXPORTER === 'otlp' &&
  data.OTEL_SDK_DISABLED?.toLowerCase() !== 'true'
