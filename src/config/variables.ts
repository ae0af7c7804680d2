/** The environment variables: each with what it takes, and its value when it is not set. */
import { z } from 'zod'
import { MIN_SECRET_BYTES } from '../http/identity/jwt.js'
import { originProblem } from '../http/origins.js'

/** Variables by name, as the process has them. */
export type Environment = Readonly<Record<string, string | undefined>>

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

const aSwitch = z
  .enum(['1', '0', 'on', 'off', 'true', 'false'], { error: 'must be 1 or 0' })
  .transform((text) => text === '1' || text === 'on' || text === 'true')

export const logLevels = ['trace', 'debug', 'info', 'warn', 'error', 'fatal', 'silent'] as const

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

export const isHttpUrl = (url: string): boolean => /^https?:\/\//.test(url) && URL.canParse(url)

const origins = z
  .string()
  .transform((list) => list.split(',').map((origin) => origin.trim()))
  .superRefine((list, context) => {
    const message = list.map(originProblem).find((problem) => problem !== null)
    if (message !== undefined) context.addIssue({ code: 'custom', message: String(message) })
  })

const DEFAULT_MAX_MESSAGE_LENGTH = 65_536

export const variables = z.object({
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
  MAX_ARTIFACT_SIZE: wholeNumber(1, 100_000_000).optional(),
  MAX_BODY_BYTES: wholeNumber(1024, 1_000_000_000).optional(),
  MAX_DOCUMENT_TOKENS: wholeNumber(1, 1_000_000).optional(),
  MAX_DEPTH: wholeNumber(1, 1000).optional(),
  MAX_ALIASES: wholeNumber(0, 1_000_000).optional(),
  MAX_COST: wholeNumber(1, 1_000_000_000).optional(),
  MAX_BATCH: wholeNumber(1, 1000).optional(),
  MAX_RESPONSE_BYTES: wholeNumber(1024, 1_000_000_000).optional(),
  MAX_HELD_BYTES: wholeNumber(1_048_576, 1_000_000_000_000).optional(),
  OPERATION_TIMEOUT: wholeNumber(1, 3_600_000, ' of milliseconds').optional(),
  MAX_SUBSCRIPTIONS_PER_TENANT: wholeNumber(1, 10_000_000).optional(),
  MAX_SUBSCRIPTIONS_PER_ACTOR: wholeNumber(1, 10_000_000).optional(),
  MUTATION_RATE: wholeNumber(0, 1_000_000).optional(),
  MUTATION_BURST: wholeNumber(1, 1_000_000).optional(),
  INTROSPECTION: aSwitch.optional(),
  GRAPHIQL: aSwitch.optional(),
  TRUSTED_DOCUMENTS: z.string().optional(),
  TRUSTED_DOCUMENTS_ONLY: aSwitch.default(true),
  SQLITE_SYNCHRONOUS: oneOf(['NORMAL', 'FULL']).default('NORMAL'),
  DATABASE_PATIENCE: wholeNumber(100, 3_600_000, ' of milliseconds').default(5_000),
  MAX_WAITING_WRITES: wholeNumber(2, 1_000_000).default(5_000),
  START_TIMEOUT: wholeNumber(0, 3_600_000, ' of milliseconds').default(60_000),
  SHUTDOWN_TIMEOUT: wholeNumber(0, 3_600_000, ' of milliseconds').default(10_000),
  METRICS: aSwitch.optional(),
  METRICS_PORT: wholeNumber(0, 65_535).optional(),
  METRICS_HOST: hostName.optional(),
  OTEL_EXPORTER_OTLP_ENDPOINT: otlpEndpoint.optional(),
  OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: otlpEndpoint.optional(),
  OTEL_EXPORTER_OTLP_PROTOCOL: otlpProtocol.optional(),
  OTEL_EXPORTER_OTLP_TRACES_PROTOCOL: otlpProtocol.optional(),
  OTEL_TRACES_EXPORTER: oneOf(['otlp', 'none']).default('otlp'),
  OTEL_SDK_DISABLED: z.string().optional(),
})

/** What the variables are, each for itself. */
export type Variables = z.infer<typeof variables>
