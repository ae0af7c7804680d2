/** Relay's connections over lists that are paged in the storage, by position. */
import { createHash } from 'node:crypto'
import { extentOf } from '../core/window.js'
import type { Listed, Page, Window, Workspace } from '../workspace/workspace.js'
import { badArgument, reading } from './errors.js'
import { readPage } from './reads.js'

/** Which list: its workspace, its name and what it is a list of. Cursors of another list are refused. */
export interface ListName {
  readonly workspace: Workspace
  readonly list: string
  /** The entity whose list it is, when it is not the workspace's. */
  readonly of?: string
}

export interface ConnectionArgs {
  readonly first?: number | null | undefined
  readonly after?: string | null | undefined
  readonly last?: number | null | undefined
  readonly before?: string | null | undefined
}

/**
 * One page, and whether anything stands on either side of it: found out only when it is asked for. A page whose entries are large has fewer of
 * them than it was asked for, and says that there are more.
 */
export const connection = async <Entity, Node>(
  name: ListName,
  args: ConnectionArgs,
  list: (window: Window) => Promise<Page<Listed<Entity>>>,
  toNode: (entity: Entity) => Node,
) => {
  const cursors = cursorsOf(name)
  const after = cursors.decode('after', args.after)
  const before = cursors.decode('before', args.before)
  const { limit, from } = await reading(() => extentOf(args))
  const { entries, more } = await readPage(name.workspace, list, { after, before, limit, from })
  const edges = entries.map(({ position, entity }) => ({
    cursor: cursors.encode(position),
    node: toNode(entity),
  }))
  const isAny = async (window: { after: number } | { before: number }) =>
    (await readPage(name.workspace, list, { ...window, limit: 1, from: 'start' })).entries.length > 0

  let info: ReturnType<typeof pageInfo> | undefined
  return {
    edges,
    get pageInfo() {
      info ??= pageInfo()
      return info
    },
  }

  async function pageInfo() {
    const [hasPreviousPage, hasNextPage] = await Promise.all([
      (from === 'end' && more) || (after !== undefined && isAny({ before: after + 1 })),
      (from === 'start' && more) || (before !== undefined && isAny({ after: before - 1 })),
    ])
    return {
      hasPreviousPage,
      hasNextPage,
      startCursor: edges.at(0)?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    }
  }
}

/** A cursor holds a mark of its list and a position in it. */
const cursorsOf = ({ workspace, list, of }: ListName) => {
  const { tenantId, workspaceId } = workspace.scope
  const name = JSON.stringify([list, tenantId, workspaceId, of])
  const mark = createHash('sha256').update(name).digest('base64url').slice(0, 8)
  const encode = (position: number): string => Buffer.from(`${mark}.${position}`).toString('base64url')
  return {
    encode,
    decode: (argument: 'after' | 'before', cursor: string | null | undefined): number | undefined => {
      if (cursor === null || cursor === undefined) return undefined
      const position = Number(
        Buffer.from(cursor, 'base64url')
          .toString()
          .slice(mark.length + 1),
      )
      if (Number.isSafeInteger(position) && encode(position) === cursor) return position
      throw badArgument(argument, 'is no cursor of this list')
    },
  }
}
