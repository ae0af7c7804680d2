/** Reads by id. What is asked for in one tick is loaded from a workspace together, however many rows ask. */
import DataLoader from 'dataloader'
import type { Proposal } from '../core/entities.js'
import { entityKinds, type Needs, needsOfAll, type State } from '../core/state.js'
import type { Workspace } from '../workspace/workspace.js'
import { type ArtifactModel, modelIn, type ProposalModel, type RunModel, type ThreadModel } from './models.js'
import { read } from './reads.js'

type Wanted = Partial<Needs>

/** Nothing is kept from one batch to the next: after a mutation, what it changed is read again. */
const loaders = new WeakMap<Workspace, DataLoader<Wanted, State>>()

const load = (workspace: Workspace, wanted: Wanted): Promise<State> => {
  const loader =
    loaders.get(workspace) ??
    new DataLoader<Wanted, State>(
      async (batch) => {
        const portions = portionsOf(needsOfAll(batch)).map((needs) =>
          read(workspace, () => workspace.load(needs)),
        )
        const state = together(await Promise.all(portions))
        return batch.map(() => state)
      },
      { cache: false },
    )
  loaders.set(workspace, loader)
  return loader.load(wanted)
}

/** How many ids are looked up at a time: each may stand for an artifact of a megabyte. */
const PORTION = 32

const portionsOf = (needs: Needs): readonly Wanted[] => {
  const keys = entityKinds.flatMap((kind) => needs[kind].map((id) => ({ kind, id })))
  return Array.from({ length: Math.ceil(keys.length / PORTION) }, (_, n) => {
    const portion = keys.slice(n * PORTION, (n + 1) * PORTION)
    const ids = (wanted: keyof Needs) => portion.flatMap(({ kind, id }) => (kind === wanted ? [id] : []))
    return Object.fromEntries(entityKinds.map((kind) => [kind, ids(kind)]))
  })
}

const together = (states: readonly State[]): State => ({
  artifacts: new Map(states.flatMap(({ artifacts }) => [...artifacts])),
  proposals: new Map(states.flatMap(({ proposals }) => [...proposals])),
  threads: new Map(states.flatMap(({ threads }) => [...threads])),
  runs: new Map(states.flatMap(({ runs }) => [...runs])),
  messages: new Map(states.flatMap(({ messages }) => [...messages])),
})

export const findThread = async (workspace: Workspace, id: string): Promise<ThreadModel | null> => {
  const { threads } = await load(workspace, { threads: [id] })
  return maybe(threads.get(id), modelIn('Thread', workspace))
}

export const findRun = async (workspace: Workspace, id: string): Promise<RunModel | null> => {
  const { runs } = await load(workspace, { runs: [id] })
  return maybe(runs.get(id), modelIn('Run', workspace))
}

export const findProposal = async (workspace: Workspace, id: string): Promise<ProposalModel | null> => {
  const { proposals } = await load(workspace, { proposals: [id] })
  return maybe(proposals.get(id), modelIn('Proposal', workspace))
}

export const findArtifact = async (workspace: Workspace, id: string): Promise<ArtifactModel | null> => {
  const { artifacts } = await load(workspace, { artifacts: [id] })
  return maybe(artifacts.get(id), modelIn('Artifact', workspace))
}

/** The artifact of a proposal; `null` when it is a creation that was not accepted, whatever else has that id. */
export const artifactOf = async (workspace: Workspace, proposal: Proposal): Promise<ArtifactModel | null> => {
  const { change, status, artifactId } = proposal
  return change.type === 'create' && status !== 'accepted' ? null : findArtifact(workspace, artifactId)
}

/** Several artifacts in the order given, leaving out what does not exist. */
export const findArtifacts = async (
  workspace: Workspace,
  ids: readonly string[],
): Promise<ArtifactModel[]> => {
  const { artifacts } = await load(workspace, { artifacts: ids })
  return ids.flatMap((id) => maybe(artifacts.get(id), modelIn('Artifact', workspace)) ?? [])
}

/** Whether a message id is used (ADR-0045). */
export const messageIdUsed = async (workspace: Workspace, id: string): Promise<boolean> => {
  const { messages } = await load(workspace, { messages: [id] })
  return messages.get(id) ?? false
}

/** What a command has just made or changed. It is there: nothing is ever deleted. */
export const existing = async <Model>(found: Promise<Model | null>): Promise<Model> => {
  const model = await found
  if (model === null) throw new Error('an entity that a command wrote is not there')
  return model
}

const maybe = <Entity, Model>(
  entity: Entity | null | undefined,
  toModel: (entity: Entity) => Model,
): Model | null => (entity === null || entity === undefined ? null : toModel(entity))
