/** Watching a run as it works. */
import { NotFound } from '../../core/rejections.js'
import { readWorkspace } from '../access.js'
import { builder } from '../builder.js'
import type { GraphQLContext } from '../context.js'
import { badArgument, checkId } from '../errors.js'
import { LiveFrameUnion, type LiveModel } from '../types/live.js'
import { watched } from './watch.js'

builder.subscriptionField('runOutput', (t) =>
  t.field({
    type: LiveFrameUnion,
    description:
      'What a run produces: what there is so far, at most 1,000 frames, then the rest. It ends with the run; one that is over ' +
      'or paused has none. The messages in the log are what counts. BAD_USER_INPUT: there is no such run.',
    args: {
      workspaceId: t.arg.id({ required: true, description: 'The workspace.' }),
      runId: t.arg.id({ required: true, description: 'The run.' }),
    },
    subscribe: (_, { workspaceId, runId }, context) =>
      watched(context, workspaceId, () => outputOf(context, workspaceId, checkId('runId', runId))),
    resolve: (frame) => frame,
  }),
)

const outputOf = async (
  context: GraphQLContext,
  workspaceId: string,
  runId: string,
): Promise<AsyncIterator<LiveModel>> => {
  const workspace = await readWorkspace(context, workspaceId)
  try {
    const output = await context.runner.watch(workspace, runId)
    switch (output.where) {
      case 'here':
        return output.frames
      case 'elsewhere':
        return frames({ type: 'run_elsewhere', runId })
      case 'over':
        return frames()
    }
  } catch (error) {
    if (error instanceof NotFound) throw badArgument('runId', 'names no run of this workspace')
    throw error
  }
}

async function* frames(...all: LiveModel[]): AsyncGenerator<LiveModel> {
  yield* all
}
