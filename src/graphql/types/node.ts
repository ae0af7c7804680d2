/** Reading anything by its global id. */
import { MAX_PAGE } from '../../core/window.js'
import { builder } from '../builder.js'
import type { GraphQLContext } from '../context.js'
import { NODE, nodesCost } from '../cost.js'
import { badArgument } from '../errors.js'
import { findNode, globalId, parseGlobalId } from '../ids.js'
import type { NodeModel } from '../models.js'

export const NodeInterface = builder.interfaceRef<NodeModel>('Node').implement({
  description: 'Anything with a global id.',
  fields: (t) => ({
    id: t.id({
      description: 'Opaque and unique across workspaces: safe as the key of a client cache.',
      resolve: globalId,
    }),
  }),
  resolveType: ({ __typename }) => __typename,
})

const nodeById = async (context: GraphQLContext, argument: string, id: string): Promise<NodeModel | null> => {
  const key = parseGlobalId(id)
  if (key === null) throw badArgument(argument, 'is no global id')
  return findNode(context, key)
}

builder.queryFields((t) => ({
  node: t.field({
    type: NodeInterface,
    complexity: NODE,
    nullable: true,
    description: 'The node of a global id; null when there is none that the caller may see.',
    args: { id: t.arg.id({ required: true, description: 'A global id, as `id` fields give it.' }) },
    resolve: (_, { id }, context) => nodeById(context, 'id', id),
  }),
  nodes: t.field({
    type: [NodeInterface],
    complexity: nodesCost,
    nullable: { list: false, items: true },
    description: 'As `node` for each id, in the order given.',
    args: { ids: t.arg.idList({ required: true, description: 'At most 200 global ids.' }) },
    resolve: (_, { ids }, context) => {
      if (ids.length > MAX_PAGE) throw badArgument('ids', `must hold at most ${MAX_PAGE} ids`)
      return ids.map((id, index) => nodeById(context, `ids.${index}`, id))
    },
  }),
}))
