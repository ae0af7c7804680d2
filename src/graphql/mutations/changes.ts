/** Changes to propose, as they come in. */
import type { CommandRequest } from '../../workspace/ids.js'
import { builder } from '../builder.js'
import { PatchInputType, toPatch } from './patches.js'

type ChangeInput = Extract<CommandRequest, { type: 'propose_change' }>['change']

const threadId = { description: "The thread it comes from; an agent's own when omitted." }
const baseVersion = {
  required: true,
  description: 'The version the change is based on, which has to be the current one.',
} as const

const CreateArtifactChangeInput = builder.inputType('CreateArtifactChangeInput', {
  description: 'An artifact to create.',
  fields: (t) => ({
    artifactId: t.id({ description: 'An id of your own for it. Generated when omitted.' }),
    kind: t.string({ required: true, description: 'Its type: a `kind` of `artifactTypes`.' }),
    data: t.field({ type: 'JSON', required: true, description: 'Its data, as its type has it.' }),
    threadId: t.id(threadId),
  }),
})

const EditArtifactChangeInput = builder.inputType('EditArtifactChangeInput', {
  description: "A change to an artifact's data.",
  fields: (t) => ({
    artifactId: t.id({ required: true, description: 'The artifact.' }),
    baseVersion: t.int(baseVersion),
    patch: t.field({ type: PatchInputType, required: true, description: 'The change.' }),
    summary: t.string({ description: 'The change in a few words. Made from the patch when omitted.' }),
    threadId: t.id(threadId),
  }),
})

const ArchiveArtifactChangeInput = builder.inputType('ArchiveArtifactChangeInput', {
  description: 'An artifact to archive.',
  fields: (t) => ({
    artifactId: t.id({ required: true, description: 'The artifact.' }),
    baseVersion: t.int(baseVersion),
    threadId: t.id(threadId),
  }),
})

export const ProposedChangeInputType = builder.inputType('ProposedChangeInput', {
  description: 'What to propose: one of these.',
  isOneOf: true,
  fields: (t) => ({
    create: t.field({ type: CreateArtifactChangeInput, description: 'Creating an artifact.' }),
    edit: t.field({ type: EditArtifactChangeInput, description: 'Changing an artifact.' }),
    archive: t.field({ type: ArchiveArtifactChangeInput, description: 'Archiving an artifact.' }),
  }),
})

export const toChange = ({
  create,
  edit,
  archive,
}: typeof ProposedChangeInputType.$inferInput): ChangeInput => {
  if (create !== undefined) {
    const { kind, data, threadId } = create
    return {
      type: 'create',
      artifactId: create.artifactId ?? undefined,
      kind,
      data,
      threadId: threadId ?? undefined,
    }
  }
  if (edit !== undefined) {
    const { artifactId, baseVersion, patch, summary, threadId } = edit
    return {
      type: 'edit',
      artifactId,
      baseVersion,
      patch: toPatch(patch),
      summary: summary ?? undefined,
      threadId: threadId ?? undefined,
    }
  }
  const { artifactId, baseVersion, threadId } = archive
  return { type: 'archive', artifactId, baseVersion, threadId: threadId ?? undefined }
}
