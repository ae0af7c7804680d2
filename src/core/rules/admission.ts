/** Whether a change may be made at all, before the write policy says how (domain §5). */
import { isAgent } from '../actors.js'
import type { ArtifactType } from '../artifacts.js'
import type { ProposedChange } from '../commands.js'
import type { Context } from '../context.js'
import type { Needs, State } from '../state.js'
import { contextThread, type Origin, originOf, originThreads } from './origin.js'
import { artifactAt, artifactType } from './targets.js'

/** What any change needs. */
export const changeNeeds = (
  { artifactId, threadId }: ProposedChange,
  { actor }: Context,
): Pick<Needs, 'artifacts' | 'threads'> => ({
  artifacts: [artifactId],
  threads: originThreads(originOf(actor, threadId)),
})

export interface Admission {
  readonly origin: Origin
  /** Whether the write policy makes a proposal of it: an agent's change to a type it may not write, or from a thread in suggest mode. */
  readonly mustPropose: boolean
}

/** @throws NotFound, InvalidState, VersionConflict */
export const admit = (change: ProposedChange, state: State, context: Context): Admission => {
  const { writePolicy } = typeOf(change, state, context)
  const origin = originOf(context.actor, change.threadId)
  const thread = contextThread(state, origin)
  const restricted = writePolicy === 'propose' || thread?.mode === 'suggest'
  return { origin, mustPropose: isAgent(context.actor) && restricted }
}

const typeOf = (change: ProposedChange, state: State, { definitions }: Context): ArtifactType => {
  switch (change.type) {
    case 'create':
      return artifactType(definitions, change.kind)
    case 'edit':
    case 'archive':
      return artifactType(definitions, artifactAt(state, change.artifactId, change.baseVersion).kind)
  }
}
