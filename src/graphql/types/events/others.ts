/** Events of feedback and of applications, and those this version does not know. */
import type { EventOf, FeedbackTarget, UnknownEvent } from '../../../core/events.js'
import { builder } from '../../builder.js'
import { CONTENT } from '../../cost.js'
import { jsonOf } from '../../json.js'
import { interfaces } from './event.js'

type TargetOf<Type extends FeedbackTarget['type']> = Extract<FeedbackTarget, { type: Type }>

const ArtifactTarget = builder.objectRef<TargetOf<'artifact'>>('ArtifactTarget').implement({
  description: 'Feedback on a version of an artifact.',
  fields: (t) => ({
    artifactId: t.exposeID('artifactId', { description: 'The artifact.' }),
    version: t.exposeInt('version', { description: 'The version it is on.' }),
  }),
})

const ThreadTarget = builder.objectRef<TargetOf<'thread'>>('ThreadTarget').implement({
  description: 'Feedback on a thread.',
  fields: (t) => ({ threadId: t.exposeID('threadId', { description: 'The thread.' }) }),
})

const TurnTarget = builder.objectRef<TargetOf<'turn'>>('TurnTarget').implement({
  description: "Feedback on an agent's turn.",
  fields: (t) => ({ runId: t.exposeID('runId', { description: 'The run.' }) }),
})

const MessageTarget = builder.objectRef<TargetOf<'message'>>('MessageTarget').implement({
  description: 'Feedback on a message.',
  fields: (t) => ({
    messageId: t.exposeID('messageId', { description: 'The message.' }),
    threadId: t.exposeID('threadId', { description: 'The thread it is in.' }),
    runId: t.exposeID('runId', { nullable: true, description: 'The run that posted it.' }),
  }),
})

const FeedbackTargetUnion = builder.unionType('FeedbackTarget', {
  description: 'What feedback is about.',
  types: [ArtifactTarget, ThreadTarget, TurnTarget, MessageTarget],
  resolveType: ({ type }) => targetTypes[type],
})

const targetTypes = {
  artifact: ArtifactTarget,
  thread: ThreadTarget,
  turn: TurnTarget,
  message: MessageTarget,
} satisfies Record<FeedbackTarget['type'], unknown>

export const FeedbackGivenEvent = builder
  .objectRef<EventOf<'feedback_given'>>('FeedbackGivenEvent')
  .implement({
    description: 'Feedback was given.',
    interfaces,
    fields: (t) => ({
      feedbackType: t.exposeString('feedbackType', { description: 'The type of feedback.' }),
      target: t.expose('target', { type: FeedbackTargetUnion, description: 'What it is about.' }),
      value: t.field({
        type: 'JSON',
        complexity: CONTENT,
        description: 'The feedback, in the form of its type.',
        resolve: ({ value }) => jsonOf(value),
      }),
    }),
  })

export const AppEventType = builder.objectRef<EventOf<'app_event'>>('AppEvent').implement({
  description: 'Something the application recorded.',
  interfaces,
  fields: (t) => ({
    name: t.exposeString('name', { description: "The application's name for it." }),
    data: t.expose('data', {
      type: 'JSON',
      complexity: CONTENT,
      nullable: true,
      description: "The application's data.",
    }),
  }),
})

export const UnknownEventType = builder.objectRef<UnknownEvent>('UnknownEvent').implement({
  description:
    'An event of a type that this version of the gateway does not know; or one whose stored form is broken, which has the type ' +
    '`unreadable`.',
  interfaces,
  fields: (t) => ({
    data: t.field({
      type: 'JSON',
      complexity: CONTENT,
      description: 'The event as it is stored.',
      resolve: ({ data }) => jsonOf(data),
    }),
  }),
})
