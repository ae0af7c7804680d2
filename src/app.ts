/** A gateway: workspaces of a storage, served over GraphQL to callers an application knows. */
import type { RequestListener } from 'node:http'
import { checklist, helpfulness, note } from './core/builtin.js'
import { type DomainOptions, defineDomain } from './core/context.js'
import type { Authorize } from './graphql/context.js'
import { createSchema } from './graphql/schema.js'
import { createLog } from './http/errorLog.js'
import type { Log } from './http/errors.js'
import { createHandler } from './http/handler.js'
import { createHealth } from './http/health.js'
import type { ResolveActor } from './http/identity/auth.js'
import type { Peer } from './http/identity/peer.js'
import { type GatewayLimits, limitsOf } from './http/limits/limits.js'
import type { CorsOptions } from './http/origins.js'
import { createProbes } from './http/probes.js'
import type { StreamOptions } from './http/streams/streams.js'
import type { UpgradeListener } from './http/streams/websocket.js'
import { checkTrustedDocuments, isOnly, type TrustedDocuments } from './http/trustedDocuments.js'
import { createMetrics } from './metrics/metrics.js'
import type { Agent } from './runner/agent.js'
import { Runner } from './runner/runner.js'
import { type Storage, StorageUnavailable } from './storage/port.js'
import { logTurns } from './turnLog.js'
import { Workspaces } from './workspace/workspaces.js'

/** What an application defines is the built-in types, `note`, `checklist` and `helpfulness`, unless it says otherwise. */
export interface GatewayOptions extends DomainOptions {
  /** Migrated, and closed by whoever opened it, after the gateway. */
  readonly storage: Storage
  /** Who asks, from a request's credentials. There is no default: a gateway that trusts this machine says so with `headerAuth`. */
  readonly resolveActor: ResolveActor
  /** Whether an actor may use a workspace of its tenant; every one unless given. */
  readonly authorize?: Authorize | undefined
  /** Who takes the turns that messages ask for; nobody unless given. */
  readonly agent?: Agent | undefined
  /** Where requests and errors are logged; errors only, on standard output, unless given. */
  readonly logger?: Log | undefined
  /** Whether browsers get GraphiQL at `/graphql`; they do unless told otherwise, or only trusted documents are carried out. */
  readonly graphiql?: boolean | undefined
  /** Whether clients may ask for the schema; they may unless told otherwise. Else they get no suggestions from it either. */
  readonly introspection?: boolean | undefined
  /** Documents that clients name by ids. Where they are given, only they are carried out unless that says otherwise. */
  readonly trustedDocuments?: TrustedDocuments | undefined
  readonly limits?: GatewayLimits | undefined
  /**
   * Whether there are metrics, and for whom: `served` at `/metrics` to whoever reaches the gateway, `collected` for `Gateway.metrics` and
   * `Gateway.handleProbes` alone, or `off`. They are collected unless it is said.
   */
  readonly metrics?: 'served' | 'collected' | 'off' | undefined
  /** Which web pages of other origins may use the gateway; none unless given. */
  readonly cors?: CorsOptions | undefined
  /** How patient subscriptions are with their readers. */
  readonly streams?: StreamOptions | undefined
}

export interface Gateway {
  /** Answers a request of the web's Fetch. Where it comes from is for the application to say: `headerAuth` believes nobody without. */
  readonly fetch: (request: Request, peer?: Peer) => Promise<Response>
  /** Answers a request of Node's own server: `http.createServer(gateway.handle)`. */
  readonly handle: RequestListener
  /** Takes a WebSocket of Node's own server: `server.on('upgrade', gateway.upgrade)`. */
  readonly upgrade: UpgradeListener
  /** Answers `/health`, `/ready` and `/metrics` alone: for a server of their own that only those reach who look after the gateway. */
  readonly handleProbes: RequestListener
  /** Its metrics in Prometheus' text format; none when they are `off`. */
  metrics(): Promise<string>
  /**
   * Turns `/ready` to 503 and begins no turns from now on; waits for the operations under way, then stops the turns that still are, and
   * then ends the subscriptions. The storage stays open.
   *
   * @param timeout How long operations may take to finish, in milliseconds; ten seconds unless given. Then they are not waited for any longer.
   */
  close(options?: { readonly timeout?: number | undefined }): Promise<void>
}

const DEFAULT_CLOSE_TIMEOUT = 10_000

/** @throws RangeError naming a limit that is none; InvalidTrustedDocuments. */
export const createGateway = ({
  storage,
  resolveActor,
  authorize = () => true,
  agent,
  artifacts = [note, checklist],
  feedback = [helpfulness],
  logger = createLog('warn'),
  graphiql = true,
  introspection = true,
  trustedDocuments,
  limits: given = {},
  metrics: whose = 'collected',
  cors = {},
  streams = {},
  ...domain
}: GatewayOptions): Gateway => {
  const limits = limitsOf(given)
  const schema = createSchema()
  if (trustedDocuments !== undefined) checkTrustedDocuments(trustedDocuments, schema, limits)
  const metrics = whose === 'off' ? null : createMetrics(storage)
  const unobserve = metrics === null ? undefined : storage.observe?.(metrics.storage)
  const workspaces = new Workspaces(storage, {
    definitions: defineDomain({ artifacts, feedback, ...domain }),
    observer: metrics?.workspace,
  })
  const runner = new Runner({
    workspaces,
    agent: agent ?? null,
    observer: logTurns(logger, metrics?.runner),
    onError: (err) =>
      err instanceof StorageUnavailable
        ? logger.warn({ err }, 'turns wait for the storage, which is unavailable')
        : logger.error({ err }, 'a turn could not be carried out'),
  })
  const health = createHealth(storage)
  const text = async () => (await metrics?.text()) ?? ''
  const { fetch, handle, upgrade, finishOperations, endStreams, dispose } = createHandler({
    schema,
    log: logger,
    observer: metrics?.http,
    metrics: whose === 'served' ? text : null,
    resolveActor,
    context: { workspaces, authorize, runner },
    health,
    graphiql: graphiql && !isOnly(trustedDocuments),
    introspection,
    trustedDocuments,
    limits,
    cors,
    streams,
  })
  return {
    fetch,
    handle,
    upgrade,
    handleProbes: createProbes({ health, metrics: metrics === null ? null : text }, logger),
    metrics: text,
    close: async ({ timeout = DEFAULT_CLOSE_TIMEOUT } = {}) => {
      health.stop()
      runner.retire()
      await finishOperations(timeout)
      await runner.close()
      await endStreams()
      await dispose()
      unobserve?.()
    },
  }
}
