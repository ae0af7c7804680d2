/** Proposing changes, and deciding on them (domain §5). */
import { participantKey } from '../actors.js'
import type { CommandOf, ProposedChange } from '../commands.js'
import type { Context } from '../context.js'
import type { Change, Proposal } from '../entities.js'
import { Forbidden, InvalidState, invalid, NotFound } from '../rejections.js'
import type { Rule } from '../rule.js'
import { type CommitResult, type EventDraft, proposalIn, result, type State } from '../state.js'
import { admit, changeNeeds } from './admission.js'
import { type Carried, carryOut } from './changes.js'
import { contextThread, originOf, originThreads } from './origin.js'
import { unusedProposal } from './targets.js'

export const proposeChange: Rule<CommandOf<'propose_change'>> = {
  needs: ({ proposalId, change }, _state, context) => ({
    ...changeNeeds(change, context),
    proposals: [proposalId],
  }),
  decide: ({ proposalId, change, rationale }, state, context) =>
    propose(proposalId, change, rationale, state, context),
}

/** Makes a proposal of a change that would apply now. @throws InvalidState, NotFound, VersionConflict, PatchFailed, ValidationFailed */
export const propose = (
  id: string,
  drafted: ProposedChange,
  rationale: string | undefined,
  state: State,
  context: Context,
): CommitResult => {
  unusedProposal(state, id)
  const { origin } = admit(drafted, state, context)
  const change = proposed(drafted, carryOut(drafted, state, { context }))
  const proposal: Proposal = {
    id,
    artifactId: change.artifactId,
    change,
    proposedBy: context.actor,
    rationale,
    status: 'pending',
    threadId: origin.threadId,
  }
  return result(
    { type: 'proposed', proposalId: id },
    [{ event: { type: 'proposal_created', proposalId: id, change, rationale }, ...origin }],
    { proposals: [proposal] },
  )
}

/** A change as its proposal keeps it: what is created as it would be stored, an edit with its summary. */
const proposed = (change: ProposedChange, { artifact, summary }: Carried): Change => {
  switch (change.type) {
    case 'create':
      return { type: 'create', artifactId: change.artifactId, kind: change.kind, data: artifact.data }
    case 'edit': {
      const { artifactId, baseVersion, patch } = change
      return { type: 'edit', artifactId, baseVersion, patch, summary }
    }
    case 'archive':
      return { type: 'archive', artifactId: change.artifactId, baseVersion: change.baseVersion }
  }
}

/** A proposal is accepted onto the version there is, not the one it was based on; whoever accepts it answers for the result. */
export const respondToProposal: Rule<CommandOf<'respond_to_proposal'>> = {
  needs: ({ proposalId }, state, { actor }) => {
    const artifactId = state.proposals.get(proposalId)?.artifactId
    return {
      proposals: [proposalId],
      artifacts: artifactId === undefined ? [] : [artifactId],
      threads: originThreads(originOf(actor)),
    }
  },
  decide: (command, state, context) => {
    const proposal = answerable(command, state, context)
    switch (command.decision) {
      case 'accept': {
        const by = { context, proposalId: proposal.id, changes: command.changes }
        return resolved(proposal, command, context, carryOut(proposal.change, state, by))
      }
      case 'reject': {
        if (command.changes !== undefined) throw invalid(['changes'], 'must be left out of a rejection')
        return resolved(proposal, command, context, null)
      }
    }
  },
}

/** @throws NotFound, InvalidState, Forbidden */
const answerable = (
  { proposalId: id }: CommandOf<'respond_to_proposal'>,
  state: State,
  { actor }: Context,
): Proposal => {
  const proposal = proposalIn(state, id)
  if (proposal === null) throw new NotFound('proposal', id)
  if (proposal.status !== 'pending') {
    const about = { entity: 'proposal', id }
    throw new InvalidState('already_resolved', `proposal ${id} is already ${proposal.status}`, about)
  }
  if (participantKey(actor) === participantKey(proposal.proposedBy)) {
    throw new Forbidden('a proposal is answered by someone other than its author')
  }
  contextThread(state, originOf(actor))
  return proposal
}

/** It is recorded with the responder's context thread, else with the thread the proposal came from. */
const resolved = (
  proposal: Proposal,
  { decision, changes, reason }: CommandOf<'respond_to_proposal'>,
  { actor }: Context,
  carried: Carried | null,
): CommitResult => {
  const { id: proposalId, artifactId, proposedBy } = proposal
  const own = originOf(actor)
  const origin = own.threadId === undefined ? { threadId: proposal.threadId } : own
  const version = carried?.artifact.version
  const resolution: EventDraft = {
    event: {
      type: 'proposal_resolved',
      proposalId,
      decision,
      proposedBy,
      artifactId,
      changes,
      reason,
      version,
    },
    ...origin,
  }
  const status = decision === 'accept' ? 'accepted' : 'rejected'
  const proposals: Proposal[] = [{ ...proposal, status }]
  const outcome = { type: 'resolved', proposalId, artifactId, version } as const
  if (carried === null) return result(outcome, [resolution], { proposals })
  return result(outcome, [{ event: carried.event, ...origin }, resolution], {
    proposals,
    artifacts: [carried.artifact],
    revisions: [carried.revision],
  })
}
