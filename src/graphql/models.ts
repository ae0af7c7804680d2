/** What stands behind the types that are nodes: an entity, and the workspace it was read from. */
import type { Artifact, Proposal, Run, Thread } from '../core/entities.js'
import type { Message, Workspace } from '../workspace/workspace.js'

interface Entities {
  Workspace: null
  Thread: Thread
  Message: Message
  Artifact: Artifact
  Proposal: Proposal
  Run: Run
}

export interface Model<Name extends keyof Entities> {
  readonly __typename: Name
  readonly workspace: Workspace
  readonly entity: Entities[Name]
}

export type WorkspaceModel = Model<'Workspace'>
export type ThreadModel = Model<'Thread'>
export type MessageModel = Model<'Message'>
export type ArtifactModel = Model<'Artifact'>
export type ProposalModel = Model<'Proposal'>
export type RunModel = Model<'Run'>

export type NodeModel = { [Name in keyof Entities]: Model<Name> }[keyof Entities]

/** Makes models of a kind from the entities of a workspace. */
export const modelIn =
  <Name extends keyof Entities>(name: Name, workspace: Workspace) =>
  (entity: Entities[Name]): Model<Name> => ({ __typename: name, workspace, entity })

export const workspaceModel = (workspace: Workspace): WorkspaceModel => modelIn('Workspace', workspace)(null)
