/** What the application defines: its types of artifacts and of feedback. */
import type { ArtifactType, WritePolicy } from '../../core/artifacts.js'
import type { FeedbackTargetKind, FeedbackType } from '../../core/feedback.js'
import { builder } from '../builder.js'
import { enumOf } from '../enums.js'

const WritePolicyEnum = enumOf<WritePolicy>('WritePolicy', "What becomes of an agent's changes.", {
  direct: 'They are made.',
  propose: 'They become proposals.',
})

const FeedbackTargetKindEnum = enumOf<FeedbackTargetKind>(
  'FeedbackTargetKind',
  'What feedback may be about.',
  {
    artifact: 'A version of an artifact.',
    thread: 'A thread.',
    turn: "An agent's turn.",
    message: 'A message.',
  },
)

const ArtifactTypeType = builder.objectRef<ArtifactType>('ArtifactType').implement({
  description: 'A type of artifacts.',
  fields: (t) => ({
    kind: t.exposeString('kind', { description: 'Its name, such as `note`.' }),
    writePolicy: t.expose('writePolicy', {
      type: WritePolicyEnum,
      description: "What becomes of agents' changes.",
    }),
    jsonSchema: t.expose('jsonSchema', { type: 'JSON', description: 'What its data has to be.' }),
  }),
})

const FeedbackTypeType = builder.objectRef<FeedbackType>('FeedbackType').implement({
  description: 'A type of feedback.',
  fields: (t) => ({
    name: t.exposeString('name', { description: 'Its name, such as `helpfulness`.' }),
    targets: t.field({
      type: [FeedbackTargetKindEnum],
      description: 'What it may be about.',
      resolve: ({ targets }) => targets,
    }),
    jsonSchema: t.expose('jsonSchema', { type: 'JSON', description: 'What its value has to be.' }),
  }),
})

builder.queryFields((t) => ({
  artifactTypes: t.field({
    type: [ArtifactTypeType],
    description: 'The types artifacts may be written as. What is stored of other types still reads.',
    resolve: (_, __, { workspaces }) => [...workspaces.definitions.artifactTypes.values()],
  }),
  feedbackTypes: t.field({
    type: [FeedbackTypeType],
    description: 'The types of feedback that may be given.',
    resolve: (_, __, { workspaces }) => [...workspaces.definitions.feedbackTypes.values()],
  }),
}))
