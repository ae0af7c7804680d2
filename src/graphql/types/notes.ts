/** Change notes: what others did, in short. */
import type { ChangeNote } from '../../core/notes.js'
import { builder } from '../builder.js'
import { DIGEST } from '../cost.js'
import { enumOf } from '../enums.js'
import { checkIds } from '../errors.js'
import { read } from '../reads.js'
import { WorkspaceType } from './workspaces.js'

const ChangeNoteActionEnum = enumOf<ChangeNote['action']>('ChangeNoteAction', 'What a change note tells.', {
  created: 'An artifact was created.',
  changed: 'An artifact was changed or archived.',
  proposed: 'A change was proposed.',
  accepted: "The viewer's proposal was accepted.",
  rejected: "The viewer's proposal was rejected.",
})

const ChangeNoteType = builder.objectRef<ChangeNote>('ChangeNote').implement({
  description: 'What others did to an artifact, or with a proposal, in a sentence.',
  fields: (t) => ({
    artifactId: t.exposeID('artifactId', { description: 'The artifact it is about.' }),
    text: t.exposeString('text', { description: 'The note: who did what.' }),
    actors: t.stringList({
      description: 'The names of those who did it.',
      resolve: ({ actors }) => actors,
    }),
    action: t.expose('action', { type: ChangeNoteActionEnum, description: 'What it tells.' }),
    proposalId: t.exposeID('proposalId', { nullable: true, description: 'The proposal it is about.' }),
    fromVersion: t.exposeInt('fromVersion', {
      nullable: true,
      description: "The artifact's version before what it tells.",
    }),
    toVersion: t.exposeInt('toVersion', { nullable: true, description: 'Its version after it.' }),
  }),
})

builder.objectFields(WorkspaceType, (t) => ({
  changeNotes: t.field({
    type: [ChangeNoteType],
    complexity: { field: DIGEST, multiplier: 10 },
    description:
      'What others did since a position of the log, for the viewer: one note for each artifact, proposal and ' +
      'decision. Made from the last 5,000 changes, or the last 4 MiB of them.',
    args: {
      afterSeq: t.arg({ type: 'Seq', required: true, description: 'The position the viewer has seen.' }),
      focus: t.arg.idList({
        description: 'The artifacts the viewer follows, at most 200; all when omitted.',
      }),
    },
    resolve: async ({ workspace }, { afterSeq, focus }) => {
      const followed = checkIds('focus', focus)
      return [...(await read(workspace, () => workspace.changeNotes(afterSeq, followed)))]
    },
  }),
}))
