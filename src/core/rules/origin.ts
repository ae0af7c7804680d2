/** The context thread (domain §5): the thread a change comes from, which it is recorded with. */
import type { Actor } from '../actors.js'
import type { Thread } from '../entities.js'
import type { State } from '../state.js'
import { existingThread } from './threads.js'

/** Where an event comes from, as its envelope says. */
export interface Origin {
  readonly threadId?: string | undefined
  readonly runId?: string | undefined
}

/** The thread the command names, or an agent's own; the run is the agent's. */
export const originOf = (actor: Actor, threadId?: string): Origin =>
  actor.kind === 'agent' ? { threadId: threadId ?? actor.threadId, runId: actor.runId } : { threadId }

/** The ids of the threads an origin names. */
export const originThreads = ({ threadId }: Origin): readonly string[] =>
  threadId === undefined ? [] : [threadId]

/** The context thread, if there is one. @throws NotFound when it does not exist. */
export const contextThread = (state: State, { threadId }: Origin): Thread | null =>
  threadId === undefined ? null : existingThread(state, threadId)
