/** Creating, editing and archiving artifacts, directly or as a proposal when the write policy says so (domain §5). */
import type { CommandOf, ProposedChange } from '../commands.js'
import type { Rule } from '../rule.js'
import { result } from '../state.js'
import { admit, changeNeeds } from './admission.js'
import { carryOut } from './changes.js'
import { propose } from './proposals.js'

type ArtifactCommand = CommandOf<'create_artifact' | 'edit_artifact' | 'archive_artifact'>

/** The proposal is loaded whatever the policy: whether there is to be one shows only when the thread is there. */
export const changeArtifact: Rule<ArtifactCommand> = {
  needs: (command, _state, context) => ({
    ...changeNeeds(changeOf(command), context),
    proposals: [command.proposalId],
  }),
  decide: (command, state, context) => {
    const change = changeOf(command)
    const { origin, mustPropose } = admit(change, state, context)
    if (mustPropose) return propose(command.proposalId, change, undefined, state, context)
    const { artifact, revision, event } = carryOut(change, state, { context })
    return result(
      { type: 'applied', artifactId: artifact.id, version: artifact.version },
      [{ event, ...origin }],
      { artifacts: [artifact], revisions: [revision] },
    )
  },
}

const changeOf = (command: ArtifactCommand): ProposedChange => {
  switch (command.type) {
    case 'create_artifact':
      return { ...command, type: 'create' }
    case 'edit_artifact':
      return { ...command, type: 'edit' }
    case 'archive_artifact':
      return { ...command, type: 'archive' }
  }
}
