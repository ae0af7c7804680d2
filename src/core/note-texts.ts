/** How change notes read (domain §9). */
import { type Actor, displayName, participantKey } from './actors.js'
import type { Change } from './entities.js'
import type { EventOf } from './events.js'

export interface ChangeNote {
  readonly artifactId: string
  /** A sentence without its full stop: `Ada changed note n1 (v2 to v4): reworded the opening; edited text (1 replacement)`. */
  readonly text: string
  /** The names of those who did it, in the order they first appear. */
  readonly actors: readonly string[]
  readonly action: 'created' | 'changed' | 'proposed' | 'accepted' | 'rejected'
  readonly proposalId?: string | undefined
  /** The version before the first change; absent for what was created, and for what is only proposed or was rejected. */
  readonly fromVersion?: number | undefined
  readonly toVersion?: number | undefined
}

/** An event, and what its envelope says of it. */
export interface Entry<Event> {
  readonly seq: number
  readonly actor: Actor
  readonly threadId?: string | undefined
  readonly event: Event
}

export type ArtifactChange = EventOf<'artifact_created' | 'artifact_changed' | 'artifact_archived'>

/** A note, and where in the log what it tells starts. */
export interface Placed {
  readonly seq: number
  readonly note: ChangeNote
}

/** One note of all that others did to one artifact. */
export const changeNote = ([first, ...rest]: Group): Placed => {
  const { event, seq } = first
  const entries = [first, ...rest]
  const actors = names(entries)
  const { artifactId, kind } = event
  const toVersion = entries.reduce((latest, { event }) => Math.max(latest, event.version), event.version)
  const summaries = entries.flatMap(({ event }) => summaryOf(event)).join('; ')
  const who = listed(actors)
  if (event.type === 'artifact_created') {
    const changed = rest.length === 0 ? '' : `, then changed it (now v${toVersion}): ${summaries}`
    const text = `${who} created ${kind} ${artifactId}${changed}`
    return { seq, note: { artifactId, text, actors, action: 'created', toVersion } }
  }
  const fromVersion = event.version - 1
  const text = `${who} changed ${kind} ${artifactId} (v${fromVersion} to v${toVersion}): ${summaries}`
  return { seq, note: { artifactId, text, actors, action: 'changed', fromVersion, toVersion } }
}

/** What others did to one artifact, oldest first. */
export type Group = readonly [Entry<ArtifactChange>, ...Entry<ArtifactChange>[]]

const summaryOf = (event: ArtifactChange): readonly string[] => {
  switch (event.type) {
    case 'artifact_created':
      return []
    case 'artifact_changed':
      return [event.summary]
    case 'artifact_archived':
      return ['archived']
  }
}

/** A note of a proposal somebody made. */
export const proposalNote = ({ seq, actor, event }: Entry<EventOf<'proposal_created'>>): Placed => {
  const { proposalId, change, rationale } = event
  const actors = [displayName(actor)]
  const why = rationale ? ` (${rationale})` : ''
  const text = `${listed(actors)} proposed ${intent(change)}${why}`
  return { seq, note: { artifactId: change.artifactId, text, actors, action: 'proposed', proposalId } }
}

const intent = (change: Change): string => {
  switch (change.type) {
    case 'create':
      return `to create ${change.kind} ${change.artifactId}`
    case 'edit':
      return `a change to ${change.artifactId}: ${change.summary}`
    case 'archive':
      return `to archive ${change.artifactId}`
  }
}

/** A note of what somebody decided on the viewer's own proposal. */
export const decisionNote = ({ seq, actor, event }: Entry<EventOf<'proposal_resolved'>>): Placed => {
  const { proposalId, artifactId, decision, changes, reason, version } = event
  const actors = [displayName(actor)]
  const because = reason ? `: ${reason}` : ''
  const about = { artifactId, actors, proposalId }
  switch (decision) {
    case 'accept': {
      const now = version === undefined ? '' : ` (now v${version})`
      const altered = changes === undefined ? '' : ' with changes'
      const text = `${listed(actors)} accepted your proposal for ${artifactId}${altered}${now}${because}`
      return { seq, note: { ...about, text, action: 'accepted', ...versions(version) } }
    }
    case 'reject': {
      const text = `${listed(actors)} rejected your proposal for ${artifactId}${because}`
      return { seq, note: { ...about, text, action: 'rejected' } }
    }
  }
}

const versions = (version: number | undefined): Pick<ChangeNote, 'fromVersion' | 'toVersion'> =>
  version === undefined || version === 1
    ? { toVersion: version }
    : { fromVersion: version - 1, toVersion: version }

/** Each participant's name once, as it first appears. */
const names = (entries: readonly { readonly actor: Actor }[]): readonly string[] => {
  const byParticipant = new Map<string, string>()
  for (const { actor } of entries) {
    const key = participantKey(actor)
    if (!byParticipant.has(key)) byParticipant.set(key, displayName(actor))
  }
  return [...byParticipant.values()]
}

/** `Ada`, `Ada and Bob`, `Ada, Bob and Cy`. */
const listed = (names: readonly string[]): string =>
  names.length < 2 ? names.join('') : `${names.slice(0, -1).join(', ')} and ${names.at(-1)}`
