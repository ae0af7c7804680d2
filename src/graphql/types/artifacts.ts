/** Artifacts and their revisions. */
import type { Revision } from '../../core/entities.js'
import { builder } from '../builder.js'
import { connection } from '../connections.js'
import { CONTENT, connectionCost, LOOK_UP, READ } from '../cost.js'
import { checkId, checkText, reading } from '../errors.js'
import { jsonOf } from '../json.js'
import { findArtifact } from '../loaders.js'
import { type ArtifactModel, modelIn } from '../models.js'
import { read } from '../reads.js'
import { ActorInterface } from './actors.js'
import { NodeInterface } from './node.js'
import { PatchUnion } from './patches.js'
import { WorkspaceType } from './workspaces.js'

const RevisionType = builder.objectRef<Revision>('Revision').implement({
  description: 'What an artifact was at one version.',
  fields: (t) => ({
    version: t.exposeInt('version', { description: 'The version.' }),
    kind: t.exposeString('kind', { description: "The artifact's type." }),
    data: t.field({
      type: 'JSON',
      complexity: CONTENT,
      description: 'Its data. The order of keys is as it was stored.',
      resolve: ({ data }) => jsonOf(data),
    }),
    patch: t.expose('patch', {
      type: PatchUnion,
      nullable: true,
      description: 'What changed since the version before; null for its creation and its archiving.',
    }),
    actor: t.expose('actor', { type: ActorInterface, description: 'Who made it.' }),
    proposalId: t.exposeID('proposalId', {
      nullable: true,
      description: 'The proposal that was accepted with it.',
    }),
    archived: t.exposeBoolean('archived', { description: 'Whether the artifact was archived with it.' }),
    traceId: t.exposeString('traceId', { nullable: true, description: 'The trace it was made in.' }),
  }),
})

const RevisionConnection = builder.connectionObject(
  { type: RevisionType, name: 'RevisionConnection', description: 'A page of revisions.' },
  { name: 'RevisionEdge', description: 'A revision and its place in the list.' },
)

export const ArtifactType = builder.objectRef<ArtifactModel>('Artifact').implement({
  description: 'Something that people and agents work on together, such as a note.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    artifactId: t.id({ description: 'Its id in the workspace.', resolve: ({ entity }) => entity.id }),
    kind: t.string({ description: 'Its type.', resolve: ({ entity }) => entity.kind }),
    version: t.int({
      description: 'Its current version: 1 when it was created.',
      resolve: ({ entity }) => entity.version,
    }),
    data: t.field({
      type: 'JSON',
      complexity: CONTENT,
      description: 'Its data. The order of keys is as it was stored.',
      resolve: ({ entity }) => jsonOf(entity.data),
    }),
    updatedBy: t.field({
      type: ActorInterface,
      description: 'Who made the current version.',
      resolve: ({ entity }) => entity.updatedBy,
    }),
    archived: t.boolean({
      description: 'Whether it is archived: readable, and changed no more.',
      resolve: ({ entity }) => entity.archived,
    }),
    revisions: t.connection(
      {
        type: RevisionType,
        complexity: connectionCost,
        description: 'Its versions, oldest first.',
        resolve: ({ workspace, entity: { id } }, args) =>
          connection(
            { workspace, list: 'revisions', of: id },
            args,
            (window) => workspace.revisions(id, window),
            (revision) => revision,
          ),
      },
      RevisionConnection,
    ),
    revision: t.field({
      type: RevisionType,
      complexity: READ,
      nullable: true,
      description: 'What it was at one version; null when it has not been at it.',
      args: { version: t.arg.int({ required: true, description: 'The version, from 1.' }) },
      resolve: ({ workspace, entity }, { version }) =>
        reading(() => read(workspace, () => workspace.revision(entity.id, version))),
    }),
  }),
})

const ArtifactConnection = builder.connectionObject(
  { type: ArtifactType, name: 'ArtifactConnection', description: 'A page of artifacts.' },
  { name: 'ArtifactEdge', description: 'An artifact and its place in the list.' },
)

builder.objectFields(WorkspaceType, (t) => ({
  artifact: t.field({
    type: ArtifactType,
    complexity: LOOK_UP,
    nullable: true,
    description: 'An artifact by its id, archived or not; null when there is none.',
    args: { artifactId: t.arg.id({ required: true, description: 'Its id in the workspace.' }) },
    resolve: ({ workspace }, { artifactId }) => findArtifact(workspace, checkId('artifactId', artifactId)),
  }),
  artifacts: t.connection(
    {
      type: ArtifactType,
      complexity: connectionCost,
      description: 'Its artifacts, oldest first.',
      args: {
        kind: t.arg.string({ description: 'Only artifacts of this type.' }),
        includeArchived: t.arg.boolean({
          defaultValue: false,
          description: 'Whether to show archived ones.',
        }),
      },
      resolve: ({ workspace }, { kind, includeArchived, ...args }) => {
        const filter = {
          kind: kind == null ? undefined : checkText('kind', kind),
          includeArchived: includeArchived ?? false,
        }
        return connection(
          { workspace, list: 'artifacts' },
          args,
          (window) => workspace.artifacts(filter, window),
          modelIn('Artifact', workspace),
        )
      },
    },
    ArtifactConnection,
  ),
}))
