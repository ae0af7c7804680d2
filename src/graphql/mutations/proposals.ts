/** Proposing changes, and deciding on them. */
import { builder } from '../builder.js'
import { type CarriedOutAs, carryOut, lastSeq, withOutcome } from '../commits.js'
import { DECISION, patchCost } from '../cost.js'
import { artifactOf, existing, findProposal } from '../loaders.js'
import { refusals } from '../rejections.js'
import { ArtifactType } from '../types/artifacts.js'
import { DecisionEnum, ProposalType } from '../types/proposals.js'
import { ProposedChangeInputType, toChange } from './changes.js'
import { commandFields } from './inputs.js'
import { PatchInputType, toPatch } from './patches.js'

export const ChangeProposed = builder.objectRef<CarriedOutAs<'proposed'>>('ChangeProposed').implement({
  description: 'The change is proposed, and waits for the decision of someone other than its author.',
  fields: (t) => ({
    proposal: t.field({
      type: ProposalType,
      description: 'The proposal.',
      resolve: ({ workspace, outcome }) => existing(findProposal(workspace, outcome.proposalId)),
    }),
    seq: t.field({ type: 'Seq', description: 'The event it appended.', resolve: lastSeq }),
  }),
})

const ProposeChangeInput = builder.inputType('ProposeChangeInput', {
  description: 'A change to propose.',
  fields: (t) => ({
    ...commandFields(t),
    proposalId: t.id({
      description: 'An id of your own, used once in the workspace. Generated when omitted.',
    }),
    change: t.field({ type: ProposedChangeInputType, required: true, description: 'What it would do.' }),
    rationale: t.string({ description: 'Why.' }),
  }),
})

builder.mutationField('proposeChange', (t) =>
  t.field({
    type: ChangeProposed,
    complexity: ({ input: { change } }) => 1 + (change.edit ? patchCost(change.edit.patch) : 0),
    description:
      'Proposes a change, which has to apply now. InvalidState with reason ALREADY_EXISTS: the id of the proposal, ' +
      'or of what it would create, is used. VersionConflict, PatchFailed, ValidationFailed: as for the change itself.',
    errors: refusals('invalid_state', 'not_found', 'version_conflict', 'patch_failed'),
    args: { input: t.arg({ type: ProposeChangeInput, required: true, description: 'The proposal.' }) },
    resolve: async (_, { input }, context) =>
      withOutcome(
        await carryOut(context, input, {
          type: 'propose_change',
          proposalId: input.proposalId ?? undefined,
          change: toChange(input.change),
          rationale: input.rationale ?? undefined,
        }),
        'proposed',
      ),
  }),
)

const RespondToProposalInput = builder.inputType('RespondToProposalInput', {
  description: 'A decision on a proposal.',
  fields: (t) => ({
    ...commandFields(t),
    proposalId: t.id({ required: true, description: 'The proposal.' }),
    decision: t.field({ type: DecisionEnum, required: true, description: 'What becomes of it.' }),
    changes: t.field({
      type: PatchInputType,
      description: 'What to change about the result when accepting it.',
    }),
    reason: t.string({ description: 'Why it is decided so.' }),
  }),
})

const RespondToProposalSuccess = builder
  .objectRef<CarriedOutAs<'resolved'>>('RespondToProposalSuccess')
  .implement({
    description: 'The proposal is decided.',
    fields: (t) => ({
      proposal: t.field({
        type: ProposalType,
        description: 'The proposal as it is now.',
        resolve: ({ workspace, outcome }) => existing(findProposal(workspace, outcome.proposalId)),
      }),
      artifact: t.field({
        type: ArtifactType,
        nullable: true,
        description: 'The artifact as it is now; null when its creation was rejected.',
        resolve: async ({ workspace, outcome }) => {
          const { entity } = await existing(findProposal(workspace, outcome.proposalId))
          return artifactOf(workspace, entity)
        },
      }),
      seq: t.field({ type: 'Seq', description: 'The last event it appended.', resolve: lastSeq }),
    }),
  })

builder.mutationField('respondToProposal', (t) =>
  t.field({
    type: RespondToProposalSuccess,
    complexity: ({ input: { changes } }) => DECISION + (changes ? patchCost(changes) : 0),
    description:
      'Accepts or rejects a proposal. Accepting applies it to the artifact as it is now. Forbidden: it is the ' +
      "caller's own. InvalidState: it is decided already (ALREADY_RESOLVED), the artifact is archived (ARCHIVED), " +
      'or the id is used (ALREADY_EXISTS). PatchFailed: it no longer applies; the proposal stays pending.',
    errors: refusals('invalid_state', 'not_found', 'patch_failed'),
    args: { input: t.arg({ type: RespondToProposalInput, required: true, description: 'The decision.' }) },
    resolve: async (_, { input }, context) =>
      withOutcome(
        await carryOut(context, input, {
          type: 'respond_to_proposal',
          proposalId: input.proposalId,
          decision: input.decision,
          changes: input.changes ? toPatch(input.changes) : undefined,
          reason: input.reason ?? undefined,
        }),
        'resolved',
      ),
  }),
)
