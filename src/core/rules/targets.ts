/** What a change is made to. */
import type { ArtifactType } from '../artifacts.js'
import type { Definitions } from '../context.js'
import type { Artifact } from '../entities.js'
import { alreadyExists, InvalidState, NotFound, VersionConflict } from '../rejections.js'
import { artifactIn, proposalIn, type State } from '../state.js'

/** @throws NotFound */
export const existingArtifact = (state: State, id: string): Artifact => {
  const artifact = artifactIn(state, id)
  if (artifact === null) throw new NotFound('artifact', id)
  return artifact
}

/** An artifact that may be changed. @throws NotFound, InvalidState */
export const openArtifact = (state: State, id: string): Artifact => {
  const artifact = existingArtifact(state, id)
  if (!artifact.archived) return artifact
  throw new InvalidState('archived', `artifact ${id} is archived`, { entity: 'artifact', id })
}

/** An artifact that may be changed, at the version the change is based on. @throws NotFound, InvalidState, VersionConflict */
export const artifactAt = (state: State, id: string, baseVersion: number): Artifact => {
  const artifact = openArtifact(state, id)
  if (artifact.version !== baseVersion) throw new VersionConflict(id, baseVersion, artifact.version)
  return artifact
}

/** @throws InvalidState when the id is used. */
export const unusedArtifact = (state: State, id: string): void => {
  if (artifactIn(state, id) !== null) throw alreadyExists('artifact', id)
}

/** @throws InvalidState when the id is used. */
export const unusedProposal = (state: State, id: string): void => {
  if (proposalIn(state, id) !== null) throw alreadyExists('proposal', id)
}

/** A type that is registered and allowed here. @throws NotFound */
export const artifactType = ({ artifactTypes }: Definitions, kind: string): ArtifactType => {
  const type = artifactTypes.get(kind)
  if (type === undefined) throw new NotFound('artifact type', kind)
  return type
}
