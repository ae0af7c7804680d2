/**
 * The host contract (domain §4, ADR-0045): what core asks for, what the host loads, and what it has to save.
 */
import { z } from 'zod'
import type { Artifact, Proposal, Revision, Run, Thread } from './entities.js'
import type { Event } from './events.js'

/** The ids still missing from the state. All empty: nothing is missing. */
export interface Needs {
  readonly artifacts: readonly string[]
  readonly proposals: readonly string[]
  readonly threads: readonly string[]
  readonly runs: readonly string[]
  readonly messages: readonly string[]
}

/**
 * What was loaded. An entity, or `null` when it was looked up and does not exist; a key that is absent was not loaded.
 * `messages` maps a message id to whether it is used.
 */
export interface State {
  readonly artifacts: ReadonlyMap<string, Artifact | null>
  readonly proposals: ReadonlyMap<string, Proposal | null>
  readonly threads: ReadonlyMap<string, Thread | null>
  readonly runs: ReadonlyMap<string, Run | null>
  readonly messages: ReadonlyMap<string, boolean>
}

export type EntityKind = keyof Needs

export const entityKinds = [
  'artifacts',
  'proposals',
  'threads',
  'runs',
  'messages',
] as const satisfies EntityKind[]

/** An event before it has a place in the log. The envelope's thread and run, where it has any. */
export interface EventDraft {
  readonly event: Event
  readonly threadId?: string | undefined
  readonly runId?: string | undefined
}

/** What an accepted command did (domain §5, "Result"). */
export const outcomeSchema = z.discriminatedUnion('type', [
  z.object({ type: z.literal('recorded') }),
  z.object({ type: z.literal('applied'), artifactId: z.string(), version: z.int() }),
  z.object({ type: z.literal('proposed'), proposalId: z.string() }),
  z.object({
    type: z.literal('resolved'),
    proposalId: z.string(),
    artifactId: z.string(),
    /** The artifact's version after an acceptance; absent for a proposal that was rejected. */
    version: z.int().optional(),
  }),
])

export type Outcome = z.infer<typeof outcomeSchema>

/** Everything the host has to save, all or nothing. `messages` are the message ids to record as used. */
export interface CommitResult {
  readonly outcome: Outcome
  readonly events: readonly EventDraft[]
  readonly artifacts: readonly Artifact[]
  readonly revisions: readonly Revision[]
  readonly proposals: readonly Proposal[]
  readonly threads: readonly Thread[]
  readonly runs: readonly Run[]
  readonly messages: readonly string[]
}

/**
 * Something was decided without what `needs` asked for. A bug in the host or its storage, never a rejection, and never shown to a client
 * as one.
 */
export class NotLoaded extends Error {
  override readonly name = 'NotLoaded'
  constructor(kind: EntityKind, id: string) {
    super(`${kind} ${JSON.stringify(id)} was not loaded`)
  }
}

export const noNeeds: Needs = {
  artifacts: [],
  proposals: [],
  threads: [],
  runs: [],
  messages: [],
}

export const emptyState: State = {
  artifacts: new Map(),
  proposals: new Map(),
  threads: new Map(),
  runs: new Map(),
  messages: new Map(),
}

export const isEmpty = (needs: Needs): boolean => entityKinds.every((kind) => needs[kind].length === 0)

/** Everything that any of these asks for, each id once. */
export const needsOfAll = (all: readonly Partial<Needs>[]): Needs => {
  const ids = (kind: EntityKind) => [...new Set(all.flatMap((needs) => needs[kind] ?? []))]
  return {
    artifacts: ids('artifacts'),
    proposals: ids('proposals'),
    threads: ids('threads'),
    runs: ids('runs'),
    messages: ids('messages'),
  }
}

/** What `wanted` names and `state` has not loaded, each id once. */
export const missing = (wanted: Partial<Needs>, state: State): Needs => {
  const absent = (kind: EntityKind) => [...new Set(wanted[kind])].filter((id) => !state[kind].has(id))
  return {
    artifacts: absent('artifacts'),
    proposals: absent('proposals'),
    threads: absent('threads'),
    runs: absent('runs'),
    messages: absent('messages'),
  }
}

/** Both states; what `later` loaded counts. */
export const mergeStates = (earlier: State, later: State): State => ({
  artifacts: new Map([...earlier.artifacts, ...later.artifacts]),
  proposals: new Map([...earlier.proposals, ...later.proposals]),
  threads: new Map([...earlier.threads, ...later.threads]),
  runs: new Map([...earlier.runs, ...later.runs]),
  messages: new Map([...earlier.messages, ...later.messages]),
})

/** Looks up in a map what `needs` asked for. @throws NotLoaded when it was not loaded. */
const loaded = <Value>(map: ReadonlyMap<string, Value>, kind: EntityKind, id: string): Value => {
  const value = map.get(id)
  if (value === undefined) throw new NotLoaded(kind, id)
  return value
}

export const artifactIn = (state: State, id: string): Artifact | null =>
  loaded(state.artifacts, 'artifacts', id)
export const proposalIn = (state: State, id: string): Proposal | null =>
  loaded(state.proposals, 'proposals', id)
export const threadIn = (state: State, id: string): Thread | null => loaded(state.threads, 'threads', id)
export const runIn = (state: State, id: string): Run | null => loaded(state.runs, 'runs', id)
/** Whether a message id is used in the workspace (ADR-0045). */
export const messageUsedIn = (state: State, id: string): boolean => loaded(state.messages, 'messages', id)

const accepted = {
  artifacts: [],
  revisions: [],
  proposals: [],
  threads: [],
  runs: [],
  messages: [],
}

/** A result that saves only what is named. */
export const result = (
  outcome: Outcome,
  events: readonly EventDraft[],
  saves: Partial<Omit<CommitResult, 'outcome' | 'events'>> = {},
): CommitResult => ({ outcome, events, ...accepted, ...saves })
