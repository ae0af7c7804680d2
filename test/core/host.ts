/** A host for core without a storage: it loads what `needs` asks for, and nothing else (domain §4). */
import type { Actor } from '../../src/core/actors.js'
import { type CommandInput, commandSchema } from '../../src/core/commands.js'
import { commit, type Item, needs, record } from '../../src/core/commit.js'
import { type Context, defaultDefinitions } from '../../src/core/context.js'
import type { Artifact, Proposal, Run, Thread } from '../../src/core/entities.js'
import {
  type CommitResult,
  emptyState,
  entityKinds,
  isEmpty,
  mergeStates,
  type Needs,
  type State,
} from '../../src/core/state.js'

/** What a workspace holds. */
export interface World {
  readonly threads?: readonly Thread[]
  readonly artifacts?: readonly Artifact[]
  readonly proposals?: readonly Proposal[]
  readonly runs?: readonly Run[]
  /** The message ids that are used. */
  readonly messages?: readonly string[]
}

const MAX_ROUNDS = 4

const commandTypes: ReadonlySet<string> = new Set(commandSchema.options.map(({ shape }) => shape.type.value))

const isCommand = (item: Item): item is CommandInput => commandTypes.has(item.type)

/** Decides without loading anything more. */
export const decideWith = (item: Item, state: State, context: Context): CommitResult =>
  isCommand(item) ? commit(item, state, context) : record(item, state, context)

/** Runs the needs loop. Fails when an id is asked for again that was loaded, or when it does not end. */
export const load = (item: Item, world: World, context: Context): { state: State; rounds: Needs[] } => {
  const rounds: Needs[] = []
  let state = emptyState
  for (;;) {
    const missing = needs(item, state, context)
    if (isEmpty(missing)) return { state, rounds }
    for (const kind of entityKinds) {
      const again = missing[kind].filter((id) => state[kind].has(id))
      if (again.length > 0) throw new Error(`${kind} ${again.join(', ')} asked for again`)
    }
    rounds.push(missing)
    if (rounds.length > MAX_ROUNDS) throw new Error('the needs loop does not end')
    state = mergeStates(state, answer(missing, world))
  }
}

const answer = (missing: Needs, world: World): State => ({
  artifacts: found(missing.artifacts, world.artifacts),
  proposals: found(missing.proposals, world.proposals),
  threads: found(missing.threads, world.threads),
  runs: found(missing.runs, world.runs),
  messages: new Map(missing.messages.map((id) => [id, world.messages?.includes(id) ?? false])),
})

const found = <Entity extends { readonly id: string }>(
  ids: readonly string[],
  entities: readonly Entity[] = [],
): ReadonlyMap<string, Entity | null> =>
  new Map(ids.map((id) => [id, entities.find((entity) => entity.id === id) ?? null]))

export const contextOf = (actor: Actor, rest: Partial<Context> = {}): Context => ({
  actor,
  definitions: defaultDefinitions,
  ...rest,
})

/** Loads and decides. */
export const decide = (item: Item, world: World, context: Context): CommitResult =>
  decideWith(item, load(item, world, context).state, context)

/** Freezes a value and everything in it, so that whoever changes it fails. */
export const deepFreeze = <Value>(value: Value): Value => {
  if (typeof value !== 'object' || value === null || Object.isFrozen(value)) return value
  Object.freeze(value)
  for (const item of value instanceof Map ? value.values() : Object.values(value)) deepFreeze(item)
  return value
}

/** As JSON text would keep it: without what is `undefined`. */
export const plain = (value: unknown): unknown => JSON.parse(JSON.stringify(value))
