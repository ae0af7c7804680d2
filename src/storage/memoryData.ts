/** What a storage in memory keeps: of each workspace what a database would keep, as the same text. */
import { type Envelope, type Seq, serializeEnvelope } from '../core/envelopes.js'
import type { EnvelopeHeader } from '../core/follow.js'
import type { Needs, State } from '../core/state.js'
import { parseEntity } from './codec.js'
import {
  type LapsedLease,
  type Listed,
  type OwedThread,
  type Scope,
  scopeKey,
  type TurnPositions,
} from './port.js'
import { type Entities, type ListedKind, listedKinds, type Staging } from './staging.js'
import { Turnstile } from './turnstile.js'

interface Row {
  readonly position: number
  readonly body: string
}

interface Lease {
  readonly holder: string
  readonly expiresAt: number
}

/** What is stored of one workspace. */
export class WorkspaceData {
  readonly scope: Scope
  readonly entities: Record<ListedKind, Map<string, Row>> = {
    artifacts: new Map(),
    proposals: new Map(),
    threads: new Map(),
    runs: new Map(),
  }
  readonly revisions = new Map<string, Row[]>()
  readonly messages = new Set<string>()
  readonly log = new Map<Seq, string>()
  head: Seq = 0
  /** Of events that were read, and the text they were read from: what a filter does not let pass is not read again. */
  readonly #headers = new Map<Seq, EnvelopeHeader & { readonly stored: string }>()
  readonly commands = new Map<string, { readonly result: string; readonly at: number }>()
  readonly turns = new Map<string, TurnPositions>()
  readonly histories = new Map<string, Uint8Array>()
  readonly leases = new Map<string, Lease>()
  readonly turnstile = new Turnstile()

  constructor(scope: Scope) {
    this.scope = scope
  }

  state(needs: Needs): State {
    return {
      artifacts: this.#load('artifacts', needs.artifacts),
      proposals: this.#load('proposals', needs.proposals),
      threads: this.#load('threads', needs.threads),
      runs: this.#load('runs', needs.runs),
      messages: new Map(needs.messages.map((id) => [id, this.messages.has(id)])),
    }
  }

  apply(staging: Staging): void {
    for (const kind of listedKinds) {
      for (const [id, { entity, position }] of staging.entities[kind]) {
        const stored = this.entities[kind].get(id)
        this.entities[kind].set(id, { position: stored?.position ?? position, body: JSON.stringify(entity) })
      }
    }
    for (const revision of staging.revisions) {
      const rows = this.revisions.get(revision.artifactId) ?? []
      this.revisions.set(revision.artifactId, rows)
      rows.push({ position: revision.version, body: JSON.stringify(revision) })
    }
    for (const id of staging.messages) this.messages.add(id)
    for (const [key, { result }] of staging.commands) this.commands.set(key, { result, at: Date.now() })
    for (const [threadId, positions] of staging.turns) this.turns.set(threadId, positions)
    for (const [threadId, history] of staging.histories) this.histories.set(threadId, history.slice())
    for (const envelope of staging.events) this.log.set(envelope.seq, serializeEnvelope(envelope))
    this.head = staging.head
  }

  /** An event that the filter lets pass, and its text; `null` when there is none. */
  event(
    seq: Seq,
    read: (stored: string) => Envelope,
    passes: (header: EnvelopeHeader) => boolean,
  ): { readonly envelope: Envelope; readonly body: string } | null {
    const stored = this.log.get(seq)
    if (stored === undefined) return null
    const known = this.#headers.get(seq)
    if (known?.stored === stored && !passes(known)) return null
    const envelope = read(stored)
    const { threadId, event } = envelope
    this.#headers.set(seq, { stored, threadId, event: { type: event.type } })
    return passes(envelope) ? { envelope, body: stored } : null
  }

  list<Kind extends ListedKind>(kind: Kind): (Listed<Entities[Kind]> & Row)[] {
    return [...this.entities[kind].values()]
      .map(({ position, body }) => ({ position, body, entity: parseEntity(kind, body) }))
      .sort((a, b) => a.position - b.position)
  }

  #load<Kind extends ListedKind>(kind: Kind, ids: readonly string[]): Map<string, Entities[Kind] | null> {
    return new Map(
      ids.map((id) => {
        const row = this.entities[kind].get(id)
        return [id, row === undefined ? null : parseEntity(kind, row.body)]
      }),
    )
  }
}

/** The data of any number of memory storages, as a database is that of any number of processes. */
export class MemoryData {
  readonly #workspaces = new Map<string, WorkspaceData>()
  /** Whoever is to know of commits. */
  readonly listeners = new Set<(scope: Scope) => void>()

  workspace(scope: Scope): WorkspaceData {
    const key = scopeKey(scope)
    const workspace = this.#workspaces.get(key) ?? new WorkspaceData(scope)
    this.#workspaces.set(key, workspace)
    return workspace
  }

  lapsedLeases(): LapsedLease[] {
    return [...this.#workspaces.values()].flatMap(({ scope, leases }) =>
      [...leases].filter(([, { expiresAt }]) => expiresAt <= Date.now()).map(([key]) => ({ scope, key })),
    )
  }

  owedThreads(): OwedThread[] {
    return [...this.#workspaces.values()].flatMap(({ scope, turns }) =>
      [...turns].filter(([, { asked, taken }]) => asked > taken).map(([threadId]) => ({ scope, threadId })),
    )
  }
}
