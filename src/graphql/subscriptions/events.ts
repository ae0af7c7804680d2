/** Following a workspace's log. */
import type { Seq } from '../../core/envelopes.js'
import { isEnvelope, type LogFrame, positionAfter } from '../../workspace/follow.js'
import type { LogReset, ReplayComplete } from '../../workspace/workspace.js'
import { readWorkspace } from '../access.js'
import { builder } from '../builder.js'
import type { Streaming } from '../context.js'
import { badArgument, checkIds, reading } from '../errors.js'
import { EnvelopeType } from '../types/log.js'
import { watched } from './watch.js'

const ReplayCompleteType = builder.objectRef<ReplayComplete>('ReplayComplete').implement({
  description:
    'Everything up to the head that the log had at subscription has been sent, as far as it concerns the subscriber. ' +
    'Comes once; what follows happens now.',
  fields: (t) => ({
    upToSeq: t.expose('upToSeq', {
      type: 'Seq',
      description: 'The head that the log had at subscription. Resume after it, or after a later `seq`.',
    }),
  }),
})

const LogResetType = builder.objectRef<LogReset>('LogReset').implement({
  description:
    'The position to go on from lies beyond the head: it was seen in a log that is no more. Discard what came of it; ' +
    'everything follows from 1. Comes first, if it does.',
  fields: (t) => ({
    headSeq: t.expose('headSeq', { type: 'Seq', description: 'The head of the log there is.' }),
  }),
})

const LogFrameUnion = builder.unionType('LogFrame', {
  description: 'What a subscriber to the log is sent.',
  types: [EnvelopeType, ReplayCompleteType, LogResetType],
  resolveType: (frame: LogFrame) => {
    if (isEnvelope(frame)) return EnvelopeType
    return frame.frame === 'replay_complete' ? ReplayCompleteType : LogResetType
  },
})

builder.subscriptionField('events', (t) =>
  t.field({
    type: LogFrameUnion,
    description:
      'The log of a workspace from a position on: what is stored, then what happens, each event once and in order, without end. ' +
      'Resume after the last `seq` that came. An error ends it: FORBIDDEN, when the caller may not use the workspace, or no longer; ' +
      'TOKEN_EXPIRED, SLOW_CONSUMER or SERVICE_UNAVAILABLE, after which resuming is safe.',
    args: {
      workspaceId: t.arg.id({ required: true, description: "Its id among the tenant's." }),
      afterSeq: t.arg({
        type: 'Seq',
        description:
          'Only events after this position: 0 for all of them. Omitted, only what happens from now on. Where an SSE client ' +
          'sends Last-Event-ID, that takes its place.',
      }),
      threadIds: t.arg.idList({
        description:
          'Only what concerns a follower of these threads, at most 200: their events, and those of the workspace as a whole.',
      }),
    },
    subscribe: async (_, { workspaceId, afterSeq, threadIds }, context) => {
      const { streaming } = context
      const position = lastEventId(streaming) ?? afterSeq
      const following = checkIds('threadIds', threadIds)
      const workspace = await readWorkspace(context, workspaceId)
      return watched(context, workspaceId, (signal) =>
        reading(async () =>
          withPositions(await workspace.follow({ afterSeq: position, following, signal }), streaming),
        ),
      )
    },
    resolve: (frame) => frame,
  }),
)

/** Where an SSE client says that it is. */
const lastEventId = (streaming: Streaming | undefined): Seq | undefined => {
  const given = streaming?.lastEventId
  if (given === undefined || given === '') return undefined
  const seq = Number(given)
  if (/^\d+$/.test(given) && Number.isSafeInteger(seq)) return seq
  throw badArgument('Last-Event-ID', 'must be an id that was sent: a position in the log')
}

/** The same frames; each tells its position on its way out. */
const withPositions = (
  frames: AsyncIterator<LogFrame, void>,
  streaming: Streaming | undefined,
): AsyncIterator<LogFrame, void> => ({
  next: async () => {
    const result = await frames.next()
    if (result.done !== true) streaming?.onPosition?.(positionAfter(result.value))
    return result
  },
  return: async () => (await frames.return?.()) ?? { done: true, value: undefined },
})
