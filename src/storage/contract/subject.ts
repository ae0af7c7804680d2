/** What the contract suite asks of whoever runs it, and the pieces its facts are made of. */
import type { Actor } from '../../core/actors.js'
import type { Artifact, Thread } from '../../core/entities.js'
import type { Seq } from '../../core/envelopes.js'
import { type Needs, noNeeds, type State } from '../../core/state.js'
import type { NewEnvelope, Scope, Storage, Window, Writes } from '../port.js'

/** A new, empty set of data, and ways into it. */
export interface Subject {
  /** Opens a storage on the data. Storages opened on the same data behave like those of several processes. */
  open(): Promise<Storage>
  /** Removes a workspace's stored events and nothing else, behind the storages' back. */
  eraseLog(scope: Scope): Promise<void>
  /** Replaces what is stored of one event, behind the storages' back. */
  rewriteEvent(scope: Scope, seq: Seq, envelope: string): Promise<void>
  /** Sets a workspace's head back, behind the storages' back, as when older data is restored. */
  rewindTo(scope: Scope, head: Seq): Promise<void>
}

/** One fact that holds for every storage. It throws when it does not. */
export interface Fact {
  readonly fact: string
  readonly holds: (subject: Subject) => Promise<void>
}

export const scope: Scope = { tenantId: 'acme', workspaceId: 'w1' }
export const elsewhere: readonly Scope[] = [
  { tenantId: 'acme', workspaceId: 'w2' },
  { tenantId: 'umbrella', workspaceId: 'w1' },
]

export const actor: Actor = { kind: 'user', id: 'ada' }

const nothing: Writes = {
  events: [],
  artifacts: [],
  revisions: [],
  proposals: [],
  threads: [],
  runs: [],
  messages: [],
}

export const writes = (some: Partial<Writes>): Writes => ({ ...nothing, ...some })
export const needing = (some: Partial<Needs>): Needs => ({ ...noNeeds, ...some })

let count = 0

export const envelope = (event: NewEnvelope['event'], about: Partial<NewEnvelope> = {}): NewEnvelope => ({
  id: `evt_${++count}`,
  ts: '2026-01-02T03:04:05.678Z',
  actor,
  event,
  ...about,
})

export const posted = (messageId: string, threadId = 't1'): NewEnvelope =>
  envelope({ type: 'message_posted', threadId, messageId, content: 'hello', kind: 'message' }, { threadId })

export const thread = (id: string, title = ''): Thread => ({ id, title, mode: 'edit', focus: [] })

export const threadCreated = (id: string): NewEnvelope =>
  envelope({ type: 'thread_created', threadId: id, title: '' }, { threadId: id })

export const artifact = (id: string, rest: Partial<Artifact> = {}): Artifact => ({
  id,
  kind: 'note',
  version: 1,
  data: { text: '' },
  updatedBy: actor,
  archived: false,
  ...rest,
})

export const artifactCreated = (id: string): NewEnvelope =>
  envelope({ type: 'artifact_created', artifactId: id, kind: 'note', version: 1, data: { text: '' } })

/** Saves in a transaction of its own. */
export const save = (storage: Storage, where: Scope, some: Partial<Writes>) =>
  storage.transaction(where, (transaction) => transaction.save(writes(some)))

/** Posts as a host does: refuses a used id, and otherwise records it. Answers whether it was posted. */
export const post = (storage: Storage, where: Scope, messageId: string): Promise<boolean> =>
  storage.transaction(where, async (transaction) => {
    const { messages } = await transaction.load(needing({ messages: [messageId] }))
    if (messages.get(messageId) !== false) return false
    await transaction.save(writes({ events: [posted(messageId)], messages: [messageId] }))
    return true
  })

export const isUsed = async (
  storage: Storage,
  where: Scope,
  messageId: string,
): Promise<boolean | undefined> => {
  const { messages } = await storage.load(where, needing({ messages: [messageId] }))
  return messages.get(messageId)
}

export const all: Window = { limit: 1_000, from: 'start' }

export const seqs = async (storage: Storage, where: Scope): Promise<number[]> =>
  (await storage.events(where, {}, all)).entries.map(({ seq }) => seq)

export const upTo = (count: number): number[] => Array.from({ length: count }, (_, index) => index + 1)

/** What was loaded, as plain values to compare. */
export const loadedOf = (state: State) => ({
  artifacts: Object.fromEntries(state.artifacts),
  proposals: Object.fromEntries(state.proposals),
  threads: Object.fromEntries(state.threads),
  runs: Object.fromEntries(state.runs),
  messages: Object.fromEntries(state.messages),
})
