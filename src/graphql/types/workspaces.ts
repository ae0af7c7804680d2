/** The workspace: where everything else is found. Each noun adds its own fields. */
import { readWorkspace } from '../access.js'
import { builder } from '../builder.js'
import { LOOK_UP, READ } from '../cost.js'
import { type WorkspaceModel, workspaceModel } from '../models.js'
import { NodeInterface } from './node.js'

export const WorkspaceType = builder.objectRef<WorkspaceModel>('Workspace').implement({
  description:
    'A space with its threads, artifacts, proposals, runs and one log. One never written to is empty.',
  interfaces: [NodeInterface],
  fields: (t) => ({
    workspaceId: t.id({
      description: "Its id among the tenant's.",
      resolve: ({ workspace }) => workspace.scope.workspaceId,
    }),
    headSeq: t.field({
      type: 'Seq',
      complexity: READ,
      description: 'The place of the last event in the log; 0 when nothing was ever written.',
      resolve: ({ workspace }) => workspace.head(),
    }),
  }),
})

builder.queryField('workspace', (t) =>
  t.field({
    type: WorkspaceType,
    complexity: LOOK_UP,
    description: "One of the tenant's workspaces. FORBIDDEN: the caller may not use it.",
    args: { workspaceId: t.arg.id({ required: true, description: "Its id among the tenant's." }) },
    resolve: async (_, { workspaceId }, context) => workspaceModel(await readWorkspace(context, workspaceId)),
  }),
)
