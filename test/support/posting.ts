/** Posting to a workspace, and what came of it. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import type { Actor } from '../../src/core/actors.js'
import type { Seq } from '../../src/core/envelopes.js'
import { InvalidState } from '../../src/core/rejections.js'
import { type Storage, StorageUnavailable } from '../../src/storage/port.js'
import type { Workspace } from '../../src/workspace/workspace.js'
import { Workspaces } from '../../src/workspace/workspaces.js'

const actor: Actor = { kind: 'user', id: 'ada' }

export const workspaceOf = (storage: Storage, workspaceId = 'w1'): Workspace =>
  new Workspaces(storage).open('acme', workspaceId, { actor })

/** A workspace that has the thread `t1`. */
export const workspaceWithThread = async (storage: Storage, workspaceId = 'w1'): Promise<Workspace> => {
  const workspace = workspaceOf(storage, workspaceId)
  await workspace.commit({ type: 'create_thread', threadId: 't1' })
  return workspace
}

export type Outcome = 'posted' | 'already exists' | 'unavailable'

/** Posts in the thread `t1`. Any other end than the three is an error. */
export const post = async (workspace: Workspace, messageId: string, content = 'hello'): Promise<Outcome> => {
  try {
    await workspace.commit({ type: 'post_message', threadId: 't1', messageId, content })
    return 'posted'
  } catch (error) {
    if (error instanceof InvalidState && error.reason === 'already_exists') return 'already exists'
    if (error instanceof StorageUnavailable) return 'unavailable'
    throw error
  }
}

export const ids = (count: number, prefix = 'm'): string[] =>
  Array.from({ length: count }, (_, index) => `${prefix}${index + 1}`)

/** Posts all of them at once. */
export const postAll = (workspace: Workspace, messageIds: readonly string[]): Promise<Outcome[]> =>
  Promise.all(messageIds.map((id) => post(workspace, id)))

/** How many there are of each. */
export const tally = (outcomes: readonly Outcome[]): Partial<Record<Outcome, number>> => {
  const counts: Partial<Record<Outcome, number>> = {}
  for (const outcome of outcomes) counts[outcome] = (counts[outcome] ?? 0) + 1
  return counts
}

/** Reads the whole log, which has no gap, and returns the ids of its messages, oldest first. */
export const messageIds = async (workspace: Workspace): Promise<string[]> => {
  const found: string[] = []
  const head = await workspace.head()
  for (let after: Seq = 0; after < head; ) {
    const { entries: page } = await workspace.events({}, { after, limit: 1_000, from: 'start' })
    for (const { seq, event } of page) {
      expect(seq).toBe(++after)
      if (event.type === 'message_posted' && 'messageId' in event) found.push(event.messageId)
    }
    expect(page).not.toHaveLength(0)
  }
  return found
}

/** The log has no gap, no message twice, and all that was acknowledged; every retry of an acknowledged post is refused. */
export const expectKept = async (workspace: Workspace, acknowledged: readonly string[]): Promise<void> => {
  const kept = await messageIds(workspace)
  expect(new Set(kept).size).toBe(kept.length)
  expect(acknowledged.filter((id) => !kept.includes(id))).toEqual([])
  // Some at a time: too many at once would be told to come back later.
  for (let start = 0; start < acknowledged.length; start += 500) {
    const some = acknowledged.slice(start, start + 500)
    expect(tally(await postAll(workspace, some))).toEqual({ 'already exists': some.length })
  }
  expect(await messageIds(workspace)).toEqual(kept)
}

/** Waits until the condition holds; fails when it does not within twenty seconds. */
export const until = async (condition: () => Promise<boolean> | boolean): Promise<void> => {
  const deadline = Date.now() + 20_000
  while (!(await condition())) {
    if (Date.now() > deadline) throw new Error(`it never came to ${condition}`)
    await pause(5)
  }
}
