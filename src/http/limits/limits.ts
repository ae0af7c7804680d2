/** The limits, and what they are unless an application says otherwise. Each is kept by the file beside this one that has its name. */

export interface GatewayLimits {
  /** The largest request body, query string or WebSocket message that is read, in bytes; 1 MiB unless given. */
  readonly maxBodyBytes?: number | undefined
  /** The most tokens of a document; 20,000 unless given. */
  readonly maxTokens?: number | undefined
  /** How deep the fields of a document may nest, also through fragments; 20 unless given. */
  readonly maxDepth?: number | undefined
  /** The most aliases of a document, counted wherever its fragments are used; 200 unless given. */
  readonly maxAliases?: number | undefined
  /** The highest cost of a request's operations, in about one unit for each value of a result; 50,000 unless given. */
  readonly maxCost?: number | undefined
  /** The most operations in one HTTP request; 10 unless given, and 1 refuses batches. */
  readonly maxBatch?: number | undefined
  /** How many bytes a response may hold, or a frame of a stream, as texts and data; 32 MiB unless given. */
  readonly maxResponseBytes?: number | undefined
  /** How many bytes may be held for all requests together until they are answered and the answers are taken, at most half of it for one tenant; 256 MiB unless given. */
  readonly maxHeldBytes?: number | undefined
  /** How long an operation may take, in milliseconds; 30 seconds unless given. Streams last, but each of their results may take no longer. */
  readonly operationTimeout?: number | undefined
  /** The most subscriptions of a tenant that are under way in this process; 10,000 unless given. */
  readonly maxSubscriptionsPerTenant?: number | undefined
  /** The most subscriptions of one actor of a tenant that are under way in this process; 2,000 unless given. */
  readonly maxSubscriptionsPerActor?: number | undefined
  /** How many mutations an actor of a tenant may carry out in a second, in the long run and in this process; 500 unless given, 0 for no limit. */
  readonly mutationRate?: number | undefined
  /** How many it may carry out at once; 5,000 unless given. */
  readonly mutationBurst?: number | undefined
}

export type Limits = { readonly [Name in keyof GatewayLimits]-?: number }

const DEFAULT_LIMITS = {
  maxBodyBytes: 1_048_576,
  maxTokens: 20_000,
  maxDepth: 20,
  maxAliases: 200,
  maxCost: 50_000,
  maxBatch: 10,
  maxResponseBytes: 33_554_432,
  maxHeldBytes: 268_435_456,
  operationTimeout: 30_000,
  maxSubscriptionsPerTenant: 10_000,
  maxSubscriptionsPerActor: 2_000,
  mutationRate: 500,
  mutationBurst: 5_000,
} as const satisfies Limits

/** @throws RangeError naming a limit that is none. `Infinity` is one. */
export const limitsOf = (given: GatewayLimits): Limits => {
  const limits: Record<string, number> & Limits = { ...DEFAULT_LIMITS }
  for (const [name, value] of Object.entries<number | undefined>({ ...given })) {
    if (value === undefined) continue
    if (!(value >= 0)) throw new RangeError(`limits.${name} must be a number from 0 on`)
    limits[name] = value
  }
  return limits
}
