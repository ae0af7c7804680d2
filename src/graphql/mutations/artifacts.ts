/** Changing artifacts. What an agent may not do directly becomes a proposal. */
import type { Rejection } from '../../core/rejections.js'
import { builder } from '../builder.js'
import { type CarriedOutAs, carryOut, lastSeq, withOutcome } from '../commits.js'
import { patchCost } from '../cost.js'
import { existing, findArtifact } from '../loaders.js'
import { refusals } from '../rejections.js'
import { ArtifactType } from '../types/artifacts.js'
import { commandFields } from './inputs.js'
import { PatchInputType, toPatch } from './patches.js'
import { ChangeProposed } from './proposals.js'

const ArtifactApplied = builder.objectRef<CarriedOutAs<'applied'>>('ArtifactApplied').implement({
  description: 'The change is made.',
  fields: (t) => ({
    artifact: t.field({
      type: ArtifactType,
      description: 'The artifact as it is now.',
      resolve: ({ workspace, outcome }) => existing(findArtifact(workspace, outcome.artifactId)),
    }),
    version: t.int({
      description: 'The version the change made.',
      resolve: ({ outcome }) => outcome.version,
    }),
    seq: t.field({ type: 'Seq', description: 'The last event it appended.', resolve: lastSeq }),
  }),
})

type ChangeFieldBuilder = Parameters<typeof commandFields>[0]

/** What every change of an artifact may come with. */
const changeFields = (t: ChangeFieldBuilder) => ({
  ...commandFields(t),
  threadId: t.id({ description: "The thread it comes from; an agent's own when omitted." }),
  proposalId: t.id({ description: 'The id of the proposal, should it become one. Generated when omitted.' }),
})

const baseVersion = {
  required: true,
  description: 'The version the change is based on, which has to be the current one.',
} as const

const CreateArtifactInput = builder.inputType('CreateArtifactInput', {
  description: 'An artifact to create.',
  fields: (t) => ({
    ...changeFields(t),
    artifactId: t.id({
      description: 'An id of your own, used once in the workspace. Generated when omitted.',
    }),
    kind: t.string({ required: true, description: 'Its type: a `kind` of `artifactTypes`.' }),
    data: t.field({ type: 'JSON', required: true, description: 'Its data, as its type has it.' }),
  }),
})

const EditArtifactInput = builder.inputType('EditArtifactInput', {
  description: "A change to an artifact's data.",
  fields: (t) => ({
    ...changeFields(t),
    artifactId: t.id({ required: true, description: 'The artifact.' }),
    baseVersion: t.int(baseVersion),
    patch: t.field({ type: PatchInputType, required: true, description: 'The change.' }),
    summary: t.string({ description: 'The change in a few words. Made from the patch when omitted.' }),
  }),
})

const ArchiveArtifactInput = builder.inputType('ArchiveArtifactInput', {
  description: 'An artifact to archive.',
  fields: (t) => ({
    ...changeFields(t),
    artifactId: t.id({ required: true, description: 'The artifact.' }),
    baseVersion: t.int(baseVersion),
  }),
})

/** Made, or proposed: by the outcome. */
const members = [ArtifactApplied, ChangeProposed] as const

const memberTypes = { applied: ArtifactApplied, proposed: ChangeProposed }

const resolveType = (result: CarriedOutAs<'applied' | 'proposed'> | Rejection) =>
  'outcome' in result ? memberTypes[result.outcome.type] : undefined

builder.mutationFields((t) => ({
  createArtifact: t.errorUnionField({
    types: [...members, ...refusals('invalid_state', 'not_found').types],
    union: { resolveType },
    description:
      'Creates an artifact. InvalidState with reason ALREADY_EXISTS: the id is used. NotFound: there is no ' +
      'such type, or no such thread. ValidationFailed: the data does not fit the type.',
    args: { input: t.arg({ type: CreateArtifactInput, required: true, description: 'The artifact.' }) },
    resolve: async (_, { input }, context) =>
      withOutcome(
        await carryOut(context, input, {
          type: 'create_artifact',
          artifactId: input.artifactId ?? undefined,
          kind: input.kind,
          data: input.data,
          threadId: input.threadId ?? undefined,
          proposalId: input.proposalId ?? undefined,
        }),
        'applied',
        'proposed',
      ),
  }),
  editArtifact: t.errorUnionField({
    types: [...members, ...refusals('invalid_state', 'not_found', 'version_conflict', 'patch_failed').types],
    union: { resolveType },
    complexity: ({ input }) => 1 + patchCost(input.patch),
    description:
      "Changes an artifact's data. InvalidState with reason ARCHIVED. VersionConflict: it has moved on. " +
      'PatchFailed: the patch does not apply, or changes nothing. ValidationFailed: the result does not fit the type.',
    args: { input: t.arg({ type: EditArtifactInput, required: true, description: 'The change.' }) },
    resolve: async (_, { input }, context) =>
      withOutcome(
        await carryOut(context, input, {
          type: 'edit_artifact',
          artifactId: input.artifactId,
          baseVersion: input.baseVersion,
          patch: toPatch(input.patch),
          summary: input.summary ?? undefined,
          threadId: input.threadId ?? undefined,
          proposalId: input.proposalId ?? undefined,
        }),
        'applied',
        'proposed',
      ),
  }),
  archiveArtifact: t.errorUnionField({
    types: [...members, ...refusals('invalid_state', 'not_found', 'version_conflict').types],
    union: { resolveType },
    description:
      'Archives an artifact. It stays readable, and is changed no more. InvalidState with reason ARCHIVED: it is ' +
      'archived already. VersionConflict: it has moved on.',
    args: { input: t.arg({ type: ArchiveArtifactInput, required: true, description: 'The artifact.' }) },
    resolve: async (_, { input }, context) =>
      withOutcome(
        await carryOut(context, input, {
          type: 'archive_artifact',
          artifactId: input.artifactId,
          baseVersion: input.baseVersion,
          threadId: input.threadId ?? undefined,
          proposalId: input.proposalId ?? undefined,
        }),
        'applied',
        'proposed',
      ),
  }),
}))
