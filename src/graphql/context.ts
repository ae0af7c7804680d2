/** What a resolver knows of its request. Who asks comes from credentials, never from input (domain §1). */
import type { Actor } from '../core/actors.js'
import type { Seq } from '../core/envelopes.js'
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
  /** When the credentials are no longer good, in epoch milliseconds: what streams then ends. Never when left out. */
  readonly expiresAt?: number | undefined
}

/** How a subscription is held open, where its transport has something to say in it. */
export interface Streaming {
  /** An SSE client's `Last-Event-ID`: where it goes on, whatever its `afterSeq` says. */
  readonly lastEventId?: string | undefined
  /** Told which position the reader will have come to with the frame that is about to be sent. */
  readonly onPosition?: ((seq: Seq) => void) | undefined
  /** Told that a frame was taken, and is about to be made into a result. */
  readonly onFrame?: (() => void) | undefined
  /** How often it is asked again whether the caller may use the workspace, in milliseconds. */
  readonly recheckEvery?: number | undefined
}

export interface GraphQLContext extends Caller {
  readonly workspaces: Workspaces
  /** Carries out commands. */
  readonly runner: Runner
  readonly authorize: Authorize
  readonly requestId: string
  /** The W3C trace context the request came with. */
  readonly traceparent?: string | undefined
  readonly streaming?: Streaming | undefined
}
