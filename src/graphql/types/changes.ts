/** Changes as proposals keep them. */
import type { Change } from '../../core/entities.js'
import { builder } from '../builder.js'
import { CONTENT } from '../cost.js'
import { jsonOf } from '../json.js'
import { PatchUnion } from './patches.js'

type ChangeOf<Type extends Change['type']> = Extract<Change, { type: Type }>

const CreateArtifactChange = builder.objectRef<ChangeOf<'create'>>('CreateArtifactChange').implement({
  description: 'An artifact to create.',
  fields: (t) => ({
    artifactId: t.exposeID('artifactId', { description: 'The id it will have.' }),
    kind: t.exposeString('kind', { description: 'Its type.' }),
    data: t.field({
      type: 'JSON',
      complexity: CONTENT,
      description: 'Its data.',
      resolve: ({ data }) => jsonOf(data),
    }),
  }),
})

const EditArtifactChange = builder.objectRef<ChangeOf<'edit'>>('EditArtifactChange').implement({
  description: "A change to an artifact's data.",
  fields: (t) => ({
    artifactId: t.exposeID('artifactId', { description: 'The artifact.' }),
    baseVersion: t.exposeInt('baseVersion', { description: 'The version it was made for.' }),
    patch: t.expose('patch', { type: PatchUnion, description: 'The change.' }),
    summary: t.exposeString('summary', { description: 'The change in a few words.' }),
  }),
})

const ArchiveArtifactChange = builder.objectRef<ChangeOf<'archive'>>('ArchiveArtifactChange').implement({
  description: 'An artifact to archive.',
  fields: (t) => ({
    artifactId: t.exposeID('artifactId', { description: 'The artifact.' }),
    baseVersion: t.exposeInt('baseVersion', { description: 'The version it was made for.' }),
  }),
})

export const ProposedChangeUnion = builder.unionType('ProposedChange', {
  description: 'What a proposal would do.',
  types: [CreateArtifactChange, EditArtifactChange, ArchiveArtifactChange],
  resolveType: ({ type }) => changeTypes[type],
})

const changeTypes = {
  create: CreateArtifactChange,
  edit: EditArtifactChange,
  archive: ArchiveArtifactChange,
} satisfies Record<Change['type'], unknown>
