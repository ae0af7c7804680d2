/** What must be true of a gateway and its logs once a fault is over, whatever the fault was. */
import { setTimeout as pause } from 'node:timers/promises'
import { expect } from 'vitest'
import { post, until } from './gateway.js'
import type { Load } from './load.js'
import { upTo } from './posts.js'
import { query } from './sql.js'

interface Logged {
  readonly seq: number
  readonly event: { readonly type: string; readonly messageId?: string; readonly runId?: string }
}

const ask = async (url: string, document: string, variables: object) => {
  const { body } = await post(url, { query: document, variables })
  if (body.errors !== undefined) throw new Error(JSON.stringify(body.errors))
  return body.data.workspace
}

const readLog = async (url: string, workspaceId: string): Promise<readonly Logged[]> => {
  const log: Logged[] = []
  for (;;) {
    const { events } = await ask(
      url,
      `query ($workspaceId: ID!, $afterSeq: Seq!) { workspace(workspaceId: $workspaceId) {
        events(afterSeq: $afterSeq) { seq event { type
          ... on MessagePostedEvent { messageId } ... on RunStartedEvent { runId } ... on RunEndedEvent { runId } } } } }`,
      { workspaceId, afterSeq: log.at(-1)?.seq ?? 0 },
    )
    if (events.length === 0) return log
    log.push(...events)
  }
}

/** How long until what a dead process left behind is found, in milliseconds. */
const RECOVERY = 40_000

/** Waits until no run works any more, no turn is owed and nothing is written. The head of the log. */
const quiet = (url: string, workspaceId: string, owed: () => Promise<number>): Promise<number> => {
  let known = -1
  return until(RECOVERY, `${workspaceId} to be quiet`, async () => {
    // Asked first: what is owed no more is under way by then.
    const isOwed = (await owed()) > 0
    const { headSeq, runs } = await ask(
      url,
      `query ($workspaceId: ID!) { workspace(workspaceId: $workspaceId) {
        headSeq runs(status: RUNNING) { edges { node { id } } } } }`,
      { workspaceId },
    )
    const isQuiet = headSeq === known && runs.edges.length === 0 && !isOwed
    known = headSeq
    await pause(isQuiet ? 0 : 300)
    return isQuiet ? headSeq : null
  })
}

const count = <Item>(items: readonly Item[]): Map<Item, number> => {
  const counts = new Map<Item, number>()
  for (const item of items) counts.set(item, (counts.get(item) ?? 0) + 1)
  return counts
}

/** Every message that was acknowledged is refused when it is posted again. */
const expectRefused = async (url: string, workspaceId: string, ids: readonly string[]): Promise<void> => {
  const again = `mutation ($input: PostMessageInput!) { postMessage(input: $input) { __typename ... on InvalidState { reason } } }`
  const left = [...ids]
  const repost = async () => {
    for (let messageId = left.pop(); messageId !== undefined; messageId = left.pop()) {
      const input = { workspaceId, threadId: 't0', messageId, content: 'again', kind: 'NOTICE' }
      const { body } = await post(url, { query: again, variables: { input } })
      expect(body.data.postMessage.reason).toBe('ALREADY_EXISTS')
    }
  }
  await Promise.all(Array.from({ length: 16 }, repost))
}

/**
 * The gateway is ready again; every message that was acknowledged is in its log once, and no other is there twice; no `seq` is missing; no
 * run is left working; whoever follows has had every event once and in order; and nobody was told anything but to try again.
 */
export const expectWhole = async (url: string, load: Load, database: string | null): Promise<void> => {
  const owed = async (): Promise<number> => {
    if (database === null) return 0
    return (await query(database, 'SELECT 1 FROM artifactr_turns WHERE owed')).length
  }
  await load.stop()
  await until(20_000, 'it to be ready', async () => (await fetch(`${url}/ready`)).status === 200 || null)
  const heads = new Map<string, number>()
  const workspaces = ['w1', 'w2']
  for (const workspace of workspaces) heads.set(workspace, await quiet(url, workspace, owed))
  const kept = await load.end(heads)
  expect(kept.wrong).toEqual([])
  for (const workspace of workspaces) {
    const log = await readLog(url, workspace)
    const head = heads.get(workspace) ?? 0
    expect(log.map(({ seq }) => seq)).toEqual(upTo(head))
    expect(kept.followed.get(workspace)).toEqual(upTo(head))
    const ids = count(log.flatMap(({ event: { messageId } }) => messageId ?? []))
    expect([...ids].filter(([, times]) => times > 1)).toEqual([])
    const acknowledged = kept.acknowledged.get(workspace) ?? []
    expect(acknowledged.length).toBeGreaterThan(0)
    expect(acknowledged.filter((id) => !ids.has(id))).toEqual([])
    const of = (type: string) =>
      count(log.flatMap(({ event }) => (event.type === type && event.runId ? [event.runId] : [])))
    expect(of('run_ended')).toEqual(of('run_started'))
    await expectRefused(url, workspace, acknowledged)
    expect((await readLog(url, workspace)).length).toBe(head)
  }
}
