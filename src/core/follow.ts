/** Whom an event reaches (domain §8). */
import type { Envelope } from './envelopes.js'
import { workspaceScopedEvents } from './events.js'

const workspaceScoped: ReadonlySet<string> = new Set(workspaceScopedEvents)

/**
 * Whether an event reaches a follower of these threads: the threads' own events do, and everything that concerns the workspace, whichever
 * thread it came from.
 */
export const reachesFollower = ({ event, threadId }: Envelope, threadIds: readonly string[]): boolean =>
  threadId === undefined || workspaceScoped.has(event.type) || threadIds.includes(threadId)
