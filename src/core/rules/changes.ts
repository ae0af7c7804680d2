/** What a change makes of an artifact: the same whether it is made directly, tried out for a proposal, or accepted (domain §5). */
import type { ArtifactType } from '../artifacts.js'
import type { Context } from '../context.js'
import type { Artifact, Change, Revision } from '../entities.js'
import type { Event } from '../events.js'
import { type JsonValue, jsonEqual } from '../json.js'
import type { Patch } from '../patches.js'
import { applyPatch, changesNothing } from '../patching/apply.js'
import { describePatch } from '../patching/describe.js'
import { diff } from '../patching/diff.js'
import { sizeOf } from '../patching/measure.js'
import { invalid } from '../rejections.js'
import type { State } from '../state.js'
import { artifactType, openArtifact, unusedArtifact } from './targets.js'

/** A change as a command or a proposal has it. The version it is based on was checked before, where it has to be. */
export type Drafted = Exclude<Change, { type: 'edit' }> | DraftedEdit

interface DraftedEdit {
  readonly type: 'edit'
  readonly artifactId: string
  readonly patch: Patch
  readonly summary?: string | undefined
}

/** A change carried out. */
export interface Carried {
  readonly artifact: Artifact
  readonly revision: Revision
  readonly event: Event
  /** What the change does, for an edit. */
  readonly summary: string
}

/** Who makes it; and, when it is accepted, the proposal it comes from and what the responder changed about it. */
export interface Attribution {
  readonly context: Context
  readonly proposalId?: string | undefined
  readonly changes?: Patch | undefined
}

/**
 * Carries out a change on the artifact as it is now.
 *
 * @throws InvalidState, NotFound, PatchFailed, ValidationFailed
 */
export const carryOut = (change: Drafted, state: State, by: Attribution): Carried => {
  const { definitions } = by.context
  switch (change.type) {
    case 'create': {
      const type = artifactType(definitions, change.kind)
      unusedArtifact(state, change.artifactId)
      return create(change.artifactId, type, change.data, by)
    }
    case 'edit': {
      const current = openArtifact(state, change.artifactId)
      return edit(current, change, artifactType(definitions, current.kind), by)
    }
    case 'archive': {
      const current = openArtifact(state, change.artifactId)
      artifactType(definitions, current.kind)
      return archive(current, by)
    }
  }
}

const create = (id: string, type: ArtifactType, proposed: JsonValue, by: Attribution): Carried => {
  const { kind } = type
  const data = parsed(type, by.changes === undefined ? proposed : applyPatch(proposed, by.changes), by)
  const artifact = { id, kind, version: 1, data, updatedBy: by.context.actor, archived: false }
  const { proposalId } = by
  return carried(artifact, by, {
    type: 'artifact_created',
    artifactId: id,
    kind,
    version: 1,
    data,
    proposalId,
  })
}

/** The recorded patch reproduces the stored data: the patch as it was given, unless validation or `changes` made something else of it. */
const edit = (current: Artifact, change: DraftedEdit, type: ArtifactType, by: Attribution): Carried => {
  const edited = applyPatch(current.data, change.patch)
  const data = parsed(type, by.changes === undefined ? edited : applyPatch(edited, by.changes), by)
  if (jsonEqual(data, current.data)) throw changesNothing()
  const asGiven = by.changes === undefined && jsonEqual(data, edited)
  const patch: Patch = asGiven ? change.patch : { type: 'json_patch', ops: diff(current.data, data) }
  const own = by.changes === undefined ? change.summary : undefined
  const summary = own || type.describeChange(current.data, data) || describePatch(patch)
  const version = current.version + 1
  const artifact = {
    ...current,
    version,
    data: asGiven ? edited : data,
    updatedBy: by.context.actor,
  }
  const { id: artifactId, kind } = current
  const { proposalId } = by
  return carried(
    artifact,
    by,
    { type: 'artifact_changed', artifactId, kind, version, patch, summary, proposalId },
    { patch, summary },
  )
}

/** As the type has it, and no larger than an artifact may be, however many edits it comes from. @throws ValidationFailed */
const parsed = (type: ArtifactType, data: JsonValue, { context }: Attribution): JsonValue => {
  const { maxArtifactSize: most } = context.definitions
  const stored = type.parse(data)
  if (sizeOf(stored) > most) throw invalid(['data'], `must hold at most ${most} values and UTF-16 units`)
  return stored
}

const archive = (current: Artifact, by: Attribution): Carried => {
  if (by.changes !== undefined) throw invalid(['changes'], 'must be left out: archiving changes no data')
  const { id: artifactId, kind } = current
  const version = current.version + 1
  const artifact = { ...current, version, archived: true, updatedBy: by.context.actor }
  const { proposalId } = by
  return carried(artifact, by, { type: 'artifact_archived', artifactId, kind, version, proposalId })
}

const carried = (
  artifact: Artifact,
  { context, proposalId }: Attribution,
  event: Event,
  { patch, summary }: { patch?: Patch; summary: string } = { summary: '' },
): Carried => ({
  artifact,
  revision: {
    artifactId: artifact.id,
    version: artifact.version,
    kind: artifact.kind,
    data: artifact.data,
    patch,
    actor: context.actor,
    proposalId,
    archived: artifact.archived,
    traceId: context.traceId,
  },
  event,
  summary,
})
