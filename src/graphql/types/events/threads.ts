/** Events of threads. */
import type { EventOf } from '../../../core/events.js'
import { builder } from '../../builder.js'
import { CONTENT } from '../../cost.js'
import { MessageKindEnum } from '../messages.js'
import { ThreadModeEnum } from '../threads.js'
import { interfaces } from './event.js'

export const ThreadCreatedEvent = builder
  .objectRef<EventOf<'thread_created'>>('ThreadCreatedEvent')
  .implement({
    description: 'A thread was created.',
    interfaces,
    fields: (t) => ({
      threadId: t.exposeID('threadId', { description: 'The thread.' }),
      title: t.exposeString('title', { description: 'Its title.' }),
    }),
  })

export const ThreadModeChangedEvent = builder
  .objectRef<EventOf<'thread_mode_changed'>>('ThreadModeChangedEvent')
  .implement({
    description: 'What agents may do in a thread was changed.',
    interfaces,
    fields: (t) => ({
      threadId: t.exposeID('threadId', { description: 'The thread.' }),
      mode: t.expose('mode', { type: ThreadModeEnum, description: 'The mode it is in since.' }),
    }),
  })

export const FocusChangedEvent = builder.objectRef<EventOf<'focus_changed'>>('FocusChangedEvent').implement({
  description: 'A thread turned to other artifacts.',
  interfaces,
  fields: (t) => ({
    threadId: t.exposeID('threadId', { description: 'The thread.' }),
    artifactIds: t.idList({
      description: 'The artifacts it is about since.',
      resolve: ({ artifactIds }) => artifactIds,
    }),
  }),
})

export const MessagePostedEvent = builder
  .objectRef<EventOf<'message_posted'>>('MessagePostedEvent')
  .implement({
    description: 'A message was posted in a thread.',
    interfaces,
    fields: (t) => ({
      threadId: t.exposeID('threadId', { description: 'The thread.' }),
      messageId: t.exposeID('messageId', { description: "The message's id." }),
      content: t.exposeString('content', { complexity: CONTENT, description: 'What it says.' }),
      kind: t.expose('kind', { type: MessageKindEnum, description: 'What it is for.' }),
      runId: t.exposeID('runId', { nullable: true, description: "The run, for an agent's message." }),
    }),
  })
