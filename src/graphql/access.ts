/** Which workspaces a request may use. Each is authorised once per request. */
import { createContextCache } from '@pothos/core'
import { Forbidden } from '../core/rejections.js'
import type { Workspace } from '../workspace/workspace.js'
import type { GraphQLContext } from './context.js'
import { reading } from './errors.js'
import { readBy } from './reads.js'

const openedBy = createContextCache((_: GraphQLContext) => new Map<string, Promise<Workspace>>())

/**
 * The workspace, as the caller.
 *
 * @throws ValidationFailed when the id is no id; Forbidden when the caller may not use the workspace.
 */
export const openWorkspace = (context: GraphQLContext, workspaceId: string): Promise<Workspace> => {
  const opened = openedBy(context)
  const workspace = opened.get(workspaceId) ?? open(context, workspaceId)
  opened.set(workspaceId, workspace)
  return workspace
}

/** As `openWorkspace`, for reads: @throws GraphQLError. */
export const readWorkspace = (context: GraphQLContext, workspaceId: string): Promise<Workspace> =>
  reading(() => openWorkspace(context, workspaceId))

/** As `openWorkspace`, but `null` when the caller may not use the workspace. */
export const findWorkspace = async (
  context: GraphQLContext,
  workspaceId: string,
): Promise<Workspace | null> => {
  try {
    return await openWorkspace(context, workspaceId)
  } catch (error) {
    if (error instanceof Forbidden) return null
    throw error
  }
}

/** Whether the caller may use a workspace: its credentials have to be good for it, and the application has to agree. */
export const mayUse = async (
  { authorize, tenantId, actor, allowedWorkspaces }: GraphQLContext,
  workspaceId: string,
): Promise<boolean> => {
  if (allowedWorkspaces !== undefined && !allowedWorkspaces.includes(workspaceId)) return false
  const answer: unknown = await authorize({ tenantId, workspaceId, actor })
  return answer === true
}

const open = async (context: GraphQLContext, workspaceId: string): Promise<Workspace> => {
  const { workspaces, tenantId, actor, traceparent, reads } = context
  const workspace = workspaces.open(tenantId, workspaceId, { actor }).traced(traceparent)
  if (!(await mayUse(context, workspaceId)))
    throw new Forbidden(`workspace ${workspaceId} may not be used by this caller`)
  return reads === undefined ? workspace : readBy(workspace, reads)
}
