/** Whom an event reaches (domain §8). */
import type { Envelope } from './envelopes.js'
import { workspaceScopedEvents } from './events.js'

/** What tells whom an event reaches. */
export interface EnvelopeHeader extends Pick<Envelope, 'threadId'> {
  readonly event: { readonly type: string }
}

const workspaceScoped: ReadonlySet<string> = new Set(workspaceScopedEvents)

/**
 * Whether an event reaches a follower of these threads: the threads' own events do, and everything that concerns the workspace, whichever
 * thread it came from.
 */
export const reachesFollower = ({ event, threadId }: EnvelopeHeader, threadIds: readonly string[]): boolean =>
  threadId === undefined || workspaceScoped.has(event.type) || threadIds.includes(threadId)
