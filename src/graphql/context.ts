/** What a resolver knows of its request. Who asks comes from credentials, never from input (domain §1). */
import type { Actor } from '../core/actors.js'
import type { Seq } from '../core/envelopes.js'
import type { RejectionCode } from '../core/rejections.js'
import type { Runner } from '../runner/runner.js'
import type { Workspaces } from '../workspace/workspaces.js'
import type { Reads } from './reads.js'

/** Whether an actor may use a workspace of its tenant. Nothing but `true` is a yes. */
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
  /** The ids of the only workspaces that the credentials are good for, whatever `authorize` says; all of the tenant's when left out. */
  readonly workspaces?: readonly string[] | undefined
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

export interface GraphQLContext extends Omit<Caller, 'workspaces'> {
  readonly workspaces: Workspaces
  /** `workspaces` of the caller. */
  readonly allowedWorkspaces?: Caller['workspaces']
  /** Carries out commands. */
  readonly runner: Runner
  readonly authorize: Authorize
  readonly requestId: string
  /** The W3C trace context of what is done for the request. */
  readonly traceparent?: string | undefined
  readonly streaming?: Streaming | undefined
  /** Told of the bytes of each text, and of data, before they are in a result. What it throws ends the field. */
  readonly onBytes?: ((bytes: number) => void) | undefined
  /** What the request reads, kept within bounds. */
  readonly reads?: Reads | undefined
  /** Told of commands that were refused. */
  readonly onRefused?: ((refused: Refused) => void) | undefined
}

interface Refused {
  /** The type of the command or fact. */
  readonly command: string
  readonly workspace: string
  readonly code: RejectionCode
}
