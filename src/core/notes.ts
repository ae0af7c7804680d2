/** Change notes: a slice of the log as short attributed notes for one viewer (domain §9). */
import { type Actor, participantKey } from './actors.js'
import type { Envelope } from './envelopes.js'
import { type Event, type EventOf, type EventType, isKnown } from './events.js'
import {
  type ArtifactChange,
  type ChangeNote,
  changeNote,
  decisionNote,
  type Entry,
  type Group,
  proposalNote,
} from './note-texts.js'

export type { ChangeNote }

export interface NotesFor {
  readonly viewer: Actor
  /** The artifacts the viewer follows; all of them when absent. */
  readonly focus?: readonly string[] | undefined
}

/** One note per changed artifact, proposal and decision, in the order they first appear in the slice, which is oldest first. */
export const changeNotes = (
  envelopes: readonly Envelope[],
  { viewer, focus }: NotesFor,
): readonly ChangeNote[] => {
  const self = participantKey(viewer)
  const others = envelopes.filter(({ actor }) => participantKey(actor) !== self)
  const focused = focus && new Set(focus)
  const followed = (artifactId: string): boolean => focused?.has(artifactId) ?? true

  const decisions = entries(others, ['proposal_resolved']).filter(
    ({ event }) => participantKey(event.proposedBy) === self,
  )
  const decided = new Set(decisions.map(({ event }) => event.proposalId))
  const proposals = entries(others, ['proposal_created']).filter(({ event }) =>
    followed(event.change.artifactId),
  )
  const changes = entries(others, ['artifact_created', 'artifact_changed', 'artifact_archived']).filter(
    (change) =>
      !(change.event.proposalId !== undefined && decided.has(change.event.proposalId)) &&
      (followed(change.event.artifactId) || createdInOwnThread(change, viewer)),
  )
  return [
    ...byArtifact(changes).map(changeNote),
    ...proposals.map(proposalNote),
    ...decisions.map(decisionNote),
  ]
    .sort((a, b) => a.seq - b.seq)
    .map(({ note }) => note)
}

/** The events of some types, with what their envelopes say of them. Events this version does not know make no notes. */
const entries = <Type extends EventType>(
  envelopes: readonly Envelope[],
  types: readonly Type[],
): Entry<EventOf<Type>>[] =>
  envelopes.flatMap(({ seq, actor, threadId, event }) =>
    isKnown(event) && isOneOf(event, types) ? [{ seq, actor, threadId, event }] : [],
  )

const isOneOf = <Type extends EventType>(event: Event, types: readonly Type[]): event is EventOf<Type> =>
  types.some((type) => type === event.type)

const createdInOwnThread = ({ event, threadId }: Entry<ArtifactChange>, viewer: Actor): boolean =>
  event.type === 'artifact_created' && viewer.kind === 'agent' && viewer.threadId === threadId

/** The changes of each artifact, the artifacts in the order they first appear. */
const byArtifact = (changes: readonly Entry<ArtifactChange>[]): readonly Group[] => {
  const groups = new Map<string, [Entry<ArtifactChange>, ...Entry<ArtifactChange>[]]>()
  for (const change of changes) {
    const { artifactId } = change.event
    const group = groups.get(artifactId)
    if (group === undefined) groups.set(artifactId, [change])
    else group.push(change)
  }
  return [...groups.values()]
}
