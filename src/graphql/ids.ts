/**
 * Global ids: opaque to clients, unique across tenants and workspaces. A message's key is its place in the log and not its id, since a
 * log written before ADR-0045 may hold one message id twice.
 */
import { z } from 'zod'
import { idSchema } from '../core/text.js'
import { findWorkspace } from './access.js'
import type { GraphQLContext } from './context.js'
import { findArtifact, findProposal, findRun, findThread } from './loaders.js'
import { modelIn, type NodeModel, workspaceModel } from './models.js'
import { read } from './reads.js'

const entityKey = z.tuple([z.enum(['Thread', 'Artifact', 'Proposal', 'Run']), idSchema, idSchema, idSchema])
const messageKey = z.tuple([z.literal('Message'), idSchema, idSchema, z.int().min(1)])
const workspaceKey = z.tuple([z.literal('Workspace'), idSchema, idSchema])
const nodeKeySchema = z.union([entityKey, messageKey, workspaceKey])

/** The type, the tenant, the workspace, and what tells the node from its like. */
type NodeKey = z.infer<typeof nodeKeySchema>

const encode = (key: NodeKey): string => Buffer.from(JSON.stringify(key)).toString('base64url')

export const globalId = (node: NodeModel): string => {
  const { tenantId, workspaceId } = node.workspace.scope
  switch (node.__typename) {
    case 'Workspace':
      return encode([node.__typename, tenantId, workspaceId])
    case 'Message':
      return encode([node.__typename, tenantId, workspaceId, node.entity.seq])
    case 'Thread':
    case 'Artifact':
    case 'Proposal':
    case 'Run':
      return encode([node.__typename, tenantId, workspaceId, node.entity.id])
  }
}

/** The key in a global id, or `null` when the text is none. There is one text for a key. */
export const parseGlobalId = (text: string): NodeKey | null => {
  try {
    const key = nodeKeySchema.parse(JSON.parse(Buffer.from(text, 'base64url').toString()))
    return encode(key) === text ? key : null
  } catch {
    return null
  }
}

/** The node, or `null` when there is none that the caller may see. */
export const findNode = async (context: GraphQLContext, key: NodeKey): Promise<NodeModel | null> => {
  const [, tenantId, workspaceId] = key
  if (tenantId !== context.tenantId) return null
  const workspace = await findWorkspace(context, workspaceId)
  if (workspace === null) return null
  switch (key[0]) {
    case 'Workspace':
      return workspaceModel(workspace)
    case 'Message': {
      const message = await read(workspace, () => workspace.messageAt(key[3]))
      return message === null ? null : modelIn('Message', workspace)(message)
    }
    case 'Thread':
      return findThread(workspace, key[3])
    case 'Artifact':
      return findArtifact(workspace, key[3])
    case 'Proposal':
      return findProposal(workspace, key[3])
    case 'Run':
      return findRun(workspace, key[3])
  }
}
