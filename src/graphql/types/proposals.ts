/** Proposals: changes that wait for someone's decision. */
import type { Decision, ProposalStatus } from '../../core/entities.js'
import { builder } from '../builder.js'
import { connection } from '../connections.js'
import { connectionCost, LOOK_UP } from '../cost.js'
import { enumOf } from '../enums.js'
import { checkId } from '../errors.js'
import { artifactOf, findProposal } from '../loaders.js'
import { modelIn, type ProposalModel } from '../models.js'
import { ActorInterface } from './actors.js'
import { ArtifactType } from './artifacts.js'
import { ProposedChangeUnion } from './changes.js'
import { NodeInterface } from './node.js'
import { WorkspaceType } from './workspaces.js'

export const DecisionEnum = enumOf<Decision>('Decision', 'What becomes of a proposal.', {
  accept: 'The change is made.',
  reject: 'It is not.',
})

const ProposalStatusEnum = enumOf<ProposalStatus>('ProposalStatus', 'Where a proposal stands.', {
  pending: 'It waits for a decision.',
  accepted: 'The change was made.',
  rejected: 'The change was not made.',
})

export const ProposalType = builder.objectRef<ProposalModel>('Proposal').implement({
  description: 'A change that waits for the decision of someone other than its author, or has it.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    proposalId: t.id({ description: 'Its id in the workspace.', resolve: ({ entity }) => entity.id }),
    artifactId: t.id({
      description: 'The artifact it is about.',
      resolve: ({ entity }) => entity.artifactId,
    }),
    artifact: t.field({
      type: ArtifactType,
      complexity: LOOK_UP,
      nullable: true,
      description: 'The artifact as it is now; null while its creation is pending or was rejected.',
      resolve: ({ workspace, entity }) => artifactOf(workspace, entity),
    }),
    change: t.field({
      type: ProposedChangeUnion,
      description: 'What it would do, or did.',
      resolve: ({ entity }) => entity.change,
    }),
    proposedBy: t.field({
      type: ActorInterface,
      description: 'Whose proposal it is.',
      resolve: ({ entity }) => entity.proposedBy,
    }),
    rationale: t.string({
      nullable: true,
      description: 'Why it was made.',
      resolve: ({ entity }) => entity.rationale,
    }),
    status: t.field({
      type: ProposalStatusEnum,
      description: 'Where it stands.',
      resolve: ({ entity }) => entity.status,
    }),
    threadId: t.id({
      nullable: true,
      description: 'The thread it came from.',
      resolve: ({ entity }) => entity.threadId,
    }),
  }),
})

const ProposalConnection = builder.connectionObject(
  { type: ProposalType, name: 'ProposalConnection', description: 'A page of proposals.' },
  { name: 'ProposalEdge', description: 'A proposal and its place in the list.' },
)

builder.objectFields(WorkspaceType, (t) => ({
  proposal: t.field({
    type: ProposalType,
    complexity: LOOK_UP,
    nullable: true,
    description: 'A proposal by its id; null when there is none.',
    args: { proposalId: t.arg.id({ required: true, description: 'Its id in the workspace.' }) },
    resolve: ({ workspace }, { proposalId }) => findProposal(workspace, checkId('proposalId', proposalId)),
  }),
  proposals: t.connection(
    {
      type: ProposalType,
      complexity: connectionCost,
      description: 'Its proposals, oldest first.',
      args: {
        status: t.arg({
          type: ProposalStatusEnum,
          defaultValue: 'pending',
          description: 'Only proposals that stand so; null for all.',
        }),
      },
      resolve: ({ workspace }, { status, ...args }) =>
        connection(
          { workspace, list: 'proposals' },
          args,
          (window) => workspace.proposals({ status: status ?? undefined }, window),
          modelIn('Proposal', workspace),
        ),
    },
    ProposalConnection,
  ),
}))
