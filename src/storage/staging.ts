/**
 * What was saved but not yet written, for storages that stage: loads see it, and it is applied as a whole or dropped. Stagings stack, so
 * that one of several transactions in a batch can be dropped alone.
 */
import type { Artifact, Proposal, Revision, Run, Thread } from '../core/entities.js'
import type { Envelope, Seq } from '../core/envelopes.js'
import type { Needs, State } from '../core/state.js'
import {
  type CommandKey,
  commandKey,
  type Listed,
  type Scope,
  type TurnPositions,
  type Writes,
} from './port.js'

export interface Entities {
  artifacts: Artifact
  proposals: Proposal
  threads: Thread
  runs: Run
}
export type ListedKind = keyof Entities
export const listedKinds = ['artifacts', 'proposals', 'threads', 'runs'] as const satisfies ListedKind[]

export interface RememberedCommand extends CommandKey {
  readonly result: string
}

type Maps = { readonly [Kind in ListedKind]: Map<string, Listed<Entities[Kind]>> }

export class Staging {
  /** New and changed entities. A new one stands at its position; a changed one keeps the position it has where it is stored. */
  readonly entities: Maps = {
    artifacts: new Map(),
    proposals: new Map(),
    threads: new Map(),
    runs: new Map(),
  }
  readonly messages = new Set<string>()
  /** What to remember of commands, by `commandKey`. */
  readonly commands = new Map<string, RememberedCommand>()
  /** By thread. */
  readonly turns = new Map<string, TurnPositions>()
  readonly histories = new Map<string, Uint8Array>()
  readonly revisions: Revision[] = []
  readonly events: Envelope[] = []
  readonly #scope: Scope
  readonly #base: Seq
  readonly #below: Staging | null

  constructor(scope: Scope, base: Seq, below: Staging | null = null) {
    this.#scope = scope
    this.#base = base
    this.#below = below
  }

  get head(): Seq {
    return this.#base + this.events.length
  }

  get isEmpty(): boolean {
    const { events, revisions, messages, commands, turns, histories, entities } = this
    const others = [messages, commands, turns, histories, ...listedKinds.map((kind) => entities[kind])]
    return events.length + revisions.length === 0 && others.every(({ size }) => size === 0)
  }

  /** A staging on top of this one, to be settled into it or dropped. */
  stack(): Staging {
    return new Staging(this.#scope, this.head, this)
  }

  /** Moves what is staged here into the staging below. */
  settle(): void {
    const below = this.#below
    if (below === null) throw new Error('there is no staging below')
    const move = <Kind extends ListedKind>(kind: Kind): void => {
      for (const [id, listed] of this.entities[kind]) below.#put(kind, id, listed)
    }
    listedKinds.forEach(move)
    for (const id of this.messages) below.messages.add(id)
    for (const [key, command] of this.commands) below.commands.set(key, command)
    for (const [threadId, positions] of this.turns) below.turns.set(threadId, positions)
    for (const [threadId, history] of this.histories) below.histories.set(threadId, history)
    below.revisions.push(...this.revisions)
    below.events.push(...this.events)
  }

  /** Gives events their `seq`. */
  save(writes: Writes): readonly Envelope[] {
    const first = this.head + 1
    const { workspaceId } = this.#scope
    const envelopes = writes.events.map((event, index) => ({ ...event, seq: first + index, workspaceId }))
    const stage = <Kind extends ListedKind>(kind: Kind, entities: readonly Entities[Kind][]): void => {
      for (const [index, entity] of entities.entries()) {
        this.#put(kind, entity.id, { entity, position: first + index })
      }
    }
    stage('artifacts', writes.artifacts)
    stage('proposals', writes.proposals)
    stage('threads', writes.threads)
    stage('runs', writes.runs)
    for (const id of writes.messages) this.messages.add(id)
    this.revisions.push(...writes.revisions)
    this.events.push(...envelopes)
    return envelopes
  }

  /** Of what is needed, what is staged here or below, and else what is stored. */
  view(stored: State, needs: Needs): State {
    return {
      artifacts: this.#view('artifacts', stored.artifacts, needs.artifacts),
      proposals: this.#view('proposals', stored.proposals, needs.proposals),
      threads: this.#view('threads', stored.threads, needs.threads),
      runs: this.#view('runs', stored.runs, needs.runs),
      messages: new Map(
        needs.messages.map((id) => [id, this.isUsed(id) || stored.messages.get(id) === true]),
      ),
    }
  }

  remember(key: CommandKey, result: string): void {
    this.commands.set(commandKey(key), { ...key, result })
  }

  /** What is remembered of a command here or below; `undefined` when nothing is. */
  recall(key: CommandKey): string | undefined {
    return this.commands.get(commandKey(key))?.result ?? this.#below?.recall(key)
  }

  /** A thread's positions as staged here or below; `undefined` when they are not. */
  turnPositions(threadId: string): TurnPositions | undefined {
    return this.turns.get(threadId) ?? this.#below?.turnPositions(threadId)
  }

  advance(threadId: string, from: TurnPositions, { asked = 0, taken = 0 }: Partial<TurnPositions>): void {
    this.turns.set(threadId, { asked: Math.max(from.asked, asked), taken: Math.max(from.taken, taken) })
  }

  #put<Kind extends ListedKind>(kind: Kind, id: string, listed: Listed<Entities[Kind]>): void {
    const position = this.entities[kind].get(id)?.position ?? listed.position
    this.entities[kind].set(id, { entity: listed.entity, position })
  }

  #view<Kind extends ListedKind>(
    kind: Kind,
    stored: ReadonlyMap<string, Entities[Kind] | null>,
    ids: readonly string[],
  ): Map<string, Entities[Kind] | null> {
    return new Map(ids.map((id) => [id, this.find(kind, id) ?? stored.get(id) ?? null]))
  }

  private find<Kind extends ListedKind>(kind: Kind, id: string): Entities[Kind] | undefined {
    return this.entities[kind].get(id)?.entity ?? this.#below?.find(kind, id)
  }

  private isUsed(id: string): boolean {
    return this.messages.has(id) || (this.#below?.isUsed(id) ?? false)
  }
}
