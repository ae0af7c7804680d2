/** Events of proposals. They concern the whole workspace, whichever thread they came from. */
import type { EventOf } from '../../../core/events.js'
import { builder } from '../../builder.js'
import { ActorInterface } from '../actors.js'
import { ProposedChangeUnion } from '../changes.js'
import { PatchUnion } from '../patches.js'
import { DecisionEnum } from '../proposals.js'
import { interfaces } from './event.js'

export const ProposalCreatedEvent = builder
  .objectRef<EventOf<'proposal_created'>>('ProposalCreatedEvent')
  .implement({
    description: 'A change was proposed.',
    interfaces,
    fields: (t) => ({
      proposalId: t.exposeID('proposalId', { description: 'The proposal.' }),
      change: t.expose('change', { type: ProposedChangeUnion, description: 'What it would do.' }),
      rationale: t.exposeString('rationale', { nullable: true, description: 'Why.' }),
    }),
  })

export const ProposalResolvedEvent = builder
  .objectRef<EventOf<'proposal_resolved'>>('ProposalResolvedEvent')
  .implement({
    description: 'A proposal was accepted or rejected.',
    interfaces,
    fields: (t) => ({
      proposalId: t.exposeID('proposalId', { description: 'The proposal.' }),
      decision: t.expose('decision', { type: DecisionEnum, description: 'What became of it.' }),
      proposedBy: t.expose('proposedBy', { type: ActorInterface, description: 'Whose proposal it was.' }),
      artifactId: t.exposeID('artifactId', { description: 'The artifact it is about.' }),
      changes: t.expose('changes', {
        type: PatchUnion,
        nullable: true,
        description: 'What was changed about it when it was accepted.',
      }),
      reason: t.exposeString('reason', { nullable: true, description: 'Why it was decided so.' }),
      version: t.exposeInt('version', {
        nullable: true,
        description: 'The version of the artifact that it made, when it was accepted.',
      }),
    }),
  })
