/** What a resolver knows of its request. Who asks comes from credentials, never from input (domain §1). */
import type { Actor } from '../core/actors.js'
import type { Runner } from '../runner/runner.js'
import type { Workspaces } from '../workspace/workspaces.js'

/** Whether an actor may use a workspace of its tenant. */
export type Authorize = (request: {
  readonly tenantId: string
  readonly workspaceId: string
  readonly actor: Actor
}) => boolean | Promise<boolean>

/** A verified caller. */
export interface Caller {
  readonly tenantId: string
  readonly actor: Actor
}

export interface GraphQLContext extends Caller {
  readonly workspaces: Workspaces
  /** Carries out commands. */
  readonly runner: Runner
  readonly authorize: Authorize
  readonly requestId: string
  /** The W3C trace context the request came with. */
  readonly traceparent?: string | undefined
}
