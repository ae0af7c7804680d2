/** Events of runs. */
import type { EventOf } from '../../../core/events.js'
import { builder } from '../../builder.js'
import { enumOf } from '../../enums.js'
import { DeferredRequestType, RunStatusEnum } from '../runs.js'
import { interfaces } from './event.js'

const RunTriggerEnum = enumOf<EventOf<'run_started'>['trigger']>('RunTrigger', 'Why a run started.', {
  message: 'A message asked for it.',
  resume: 'It was paused, and has its answers.',
  api: 'The application started it.',
})

const ToolStatusEnum = enumOf<EventOf<'tool_returned'>['status']>('ToolStatus', 'How a tool call ended.', {
  ok: 'It did what it should.',
  error: 'It failed.',
  retry: 'It asks to be called again, otherwise.',
})

type RunEventType =
  | 'run_started'
  | 'tool_called'
  | 'tool_returned'
  | 'run_paused'
  | 'deferred_answered'
  | 'run_ended'

/** An event of a run. */
const runEvent = <Type extends RunEventType>(name: string) => builder.objectRef<EventOf<Type>>(name)

const runId = { description: 'The run.' }
const threadId = { description: 'The thread it works in.' }

export const RunStartedEvent = runEvent<'run_started'>('RunStartedEvent').implement({
  description: 'A run started, or went on after a pause.',
  interfaces,
  fields: (t) => ({
    runId: t.exposeID('runId', runId),
    threadId: t.exposeID('threadId', threadId),
    trigger: t.expose('trigger', { type: RunTriggerEnum, description: 'Why.' }),
    promptMessageId: t.exposeID('messageId', {
      nullable: true,
      description: 'The message it starts or goes on with, where one asked for it.',
    }),
    traceId: t.exposeString('traceId', { nullable: true, description: 'The trace of this stretch of it.' }),
  }),
})

export const ToolCalledEvent = runEvent<'tool_called'>('ToolCalledEvent').implement({
  description: 'A run called a tool.',
  interfaces,
  fields: (t) => ({
    runId: t.exposeID('runId', runId),
    threadId: t.exposeID('threadId', threadId),
    toolCallId: t.exposeID('toolCallId', { description: 'The call.' }),
    toolName: t.exposeString('toolName', { description: 'The tool.' }),
    argsSummary: t.exposeString('argsSummary', { description: 'What it was called with, shortened.' }),
  }),
})

export const ToolReturnedEvent = runEvent<'tool_returned'>('ToolReturnedEvent').implement({
  description: 'A tool call ended.',
  interfaces,
  fields: (t) => ({
    runId: t.exposeID('runId', runId),
    threadId: t.exposeID('threadId', threadId),
    toolCallId: t.exposeID('toolCallId', { description: 'The call.' }),
    status: t.expose('status', { type: ToolStatusEnum, description: 'How it ended.' }),
    summary: t.exposeString('summary', { description: 'What came of it, shortened.' }),
  }),
})

export const RunPausedEvent = runEvent<'run_paused'>('RunPausedEvent').implement({
  description: 'A run waits for answers.',
  interfaces,
  fields: (t) => ({
    runId: t.exposeID('runId', runId),
    threadId: t.exposeID('threadId', threadId),
    requests: t.field({
      type: [DeferredRequestType],
      description: 'What it waits for. None of it was answered at that time.',
      resolve: ({ requests }) => requests.map((request) => ({ ...request, answered: false })),
    }),
  }),
})

export const DeferredAnsweredEvent = runEvent<'deferred_answered'>('DeferredAnsweredEvent').implement({
  description: 'A request of a paused run was answered.',
  interfaces,
  fields: (t) => ({
    runId: t.exposeID('runId', runId),
    threadId: t.exposeID('threadId', threadId),
    toolCallId: t.exposeID('toolCallId', { description: 'The request.' }),
    answer: t.expose('answer', { type: 'JSON', nullable: true, description: 'The answer to a question.' }),
    approved: t.exposeBoolean('approved', { nullable: true, description: 'The decision on an approval.' }),
  }),
})

const RunUsage = builder.objectRef<NonNullable<EventOf<'run_ended'>['usage']>>('RunUsage').implement({
  description: 'What a run used up.',
  fields: (t) => ({
    requests: t.exposeInt('requests', { description: 'Requests to the model.' }),
    inputTokens: t.exposeInt('inputTokens', { description: 'Tokens it read.' }),
    outputTokens: t.exposeInt('outputTokens', { description: 'Tokens it wrote.' }),
  }),
})

export const RunEndedEvent = runEvent<'run_ended'>('RunEndedEvent').implement({
  description: 'A run ended.',
  interfaces,
  fields: (t) => ({
    runId: t.exposeID('runId', runId),
    threadId: t.exposeID('threadId', threadId),
    status: t.expose('status', { type: RunStatusEnum, description: 'How it ended.' }),
    usage: t.expose('usage', { type: RunUsage, nullable: true, description: 'What it used up, if known.' }),
    error: t.exposeString('error', { nullable: true, description: 'What went wrong.' }),
    reason: t.exposeString('reason', { nullable: true, description: 'Why it ended, such as `abandoned`.' }),
  }),
})
