/** Clients that go on whatever happens: they post with ids of their own and try again, follow the log, and ask how the gateway is. */
import { setTimeout as pause } from 'node:timers/promises'
import { type EventStreamClient, openEventStream } from './eventStreams.js'
import { type Answer, post } from './gateway.js'
import { createThread } from './posts.js'

export interface LoadOptions {
  /** Where the gateway is now. */
  readonly url: () => string
  readonly workspaces?: readonly string[]
  /** How many post at a time in each workspace. */
  readonly posters?: number
  /** How long each waits between its posts, in milliseconds. */
  readonly every?: number
  /** Whether some of the messages ask for turns of the echo agent. */
  readonly turns?: boolean
}

/** What clients saw in a part of the time. */
export interface Seen {
  /** How many posts were acknowledged. */
  readonly posted: number
  /** How many posts failed and were tried again, by code; `disconnected` where nothing was answered. */
  readonly failures: Readonly<Record<string, number>>
  /** The longest a client waited for an answer, in milliseconds. */
  readonly slowest: number
  /** What `/ready` and `/health` said, each status once for as long as it lasted; 0 when nothing was answered. */
  readonly ready: readonly number[]
  readonly health: readonly number[]
}

export interface Load {
  /** What was seen since the last part ended. */
  readonly part: Seen
  /** What was seen since the last part ended, and the next part begins. */
  endPart(): Seen
  /** Ends posting, once each has an answer to its last message. */
  stop(): Promise<void>
  /** Waits until the followers have come to the end of each log, and ends everything. */
  end(heads: ReadonlyMap<string, number>): Promise<Kept>
}

/** What is to be compared with the logs, by workspace. */
export interface Kept {
  readonly acknowledged: ReadonlyMap<string, readonly string[]>
  /** The places of the events that came to the follower, in the order in which they came. */
  readonly followed: ReadonlyMap<string, readonly number[]>
  /** Answers that nobody may get. */
  readonly wrong: readonly string[]
}

const POST = `mutation ($input: PostMessageInput!) { postMessage(input: $input) {
  __typename ... on PostMessageSuccess { seq } ... on InvalidState { reason } ... on Rejection { code message } } }`

/** What is said, and to be found in no log. */
export const SAID = 'between you and me'

/** How often it is asked whether the gateway is ready, in milliseconds. */
const PROBE_EVERY = 100

type Outcome = 'posted' | 'exists' | 'wrong' | { readonly failed: string }

const outcomeOf = ({ status, body }: Answer): Outcome => {
  const result = body?.data?.postMessage
  if (body?.errors === undefined && result?.__typename === 'PostMessageSuccess') return 'posted'
  if (result?.reason === 'ALREADY_EXISTS') return 'exists'
  const [error] = body?.errors ?? []
  const { code, retryable } = error?.extensions ?? {}
  return retryable === true && (status === 200 || status === 503) ? { failed: String(code) } : 'wrong'
}

export const startLoad = async ({
  url,
  workspaces = ['w1', 'w2'],
  posters = 3,
  every = 60,
  turns = true,
}: LoadOptions): Promise<Load> => {
  const acknowledged = new Map(workspaces.map((workspace): [string, string[]] => [workspace, []]))
  const wrong: string[] = []
  let isOver = false
  const emptyPart = (ready: readonly number[] = [], health: readonly number[] = []) => ({
    posted: 0,
    failures: {} as Record<string, number>,
    slowest: 0,
    ready: [...ready],
    health: [...health],
  })
  let part = emptyPart()

  const attempt = async (input: object): Promise<Outcome> => {
    const began = performance.now()
    try {
      const answer = await post(url(), { query: POST, variables: { input } })
      const outcome = outcomeOf(answer)
      if (outcome === 'wrong') wrong.push(`${answer.status} ${JSON.stringify(answer.body)}`)
      return outcome
    } catch {
      return { failed: 'disconnected' }
    } finally {
      part.slowest = Math.max(part.slowest, Math.round(performance.now() - began))
    }
  }

  /** Posts one message until it is there. */
  const deliver = async (workspaceId: string, messageId: string, input: object): Promise<void> => {
    for (let tries = 0; ; tries++) {
      const outcome = await attempt({ workspaceId, messageId, ...input })
      if (outcome === 'wrong') return
      if (outcome === 'posted' || outcome === 'exists') {
        if (outcome === 'exists' && tries === 0) wrong.push(`${messageId} existed before it was posted`)
        acknowledged.get(workspaceId)?.push(messageId)
        part.posted++
        return
      }
      part.failures[outcome.failed] = (part.failures[outcome.failed] ?? 0) + 1
      await pause(50 + Math.random() * 50)
    }
  }

  const keepPosting = async (workspaceId: string, poster: number): Promise<void> => {
    for (let n = 0; !isOver; n++) {
      const asks = turns && n % 8 === 0
      const content = n % 16 === 0 ? `/slow 300 ${SAID}` : SAID
      const kind = asks ? 'MESSAGE' : 'NOTICE'
      await deliver(workspaceId, `${workspaceId}-${poster}-${n}`, {
        threadId: `t${poster % 2}`,
        kind,
        content,
      })
      await pause(every * (0.5 + Math.random()))
    }
  }

  const followed = new Map(workspaces.map((workspace): [string, number[]] => [workspace, []]))
  const open = new Map<string, EventStreamClient>()
  let isFollowing = true
  const keepFollowing = async (workspaceId: string): Promise<void> => {
    const seqs = followed.get(workspaceId) ?? []
    for (; isFollowing; await pause(50)) {
      const variables = { workspaceId, afterSeq: seqs.at(-1) ?? 0 }
      const stream = await openEventStream(url(), { variables }).catch(() => null)
      if (stream === null) continue
      open.set(workspaceId, stream)
      for (let taken = 0; ; await pause(20)) {
        const isLast = stream.isOver || !isFollowing
        const { seqs: sent } = stream
        seqs.push(...sent.slice(taken))
        taken = sent.length
        if (isLast) break
      }
      const failure = stream.failure()
      if (failure !== undefined && failure.retryable !== true)
        wrong.push(`stream: ${JSON.stringify(failure)}`)
      stream.drop()
    }
  }

  const keepProbing = async (path: 'ready' | 'health'): Promise<void> => {
    for (; isFollowing; await pause(PROBE_EVERY)) {
      const status = await fetch(`${url()}/${path}`).then(
        (response) => response.arrayBuffer().then(() => response.status),
        () => 0,
      )
      if (part[path].at(-1) !== status) part[path].push(status)
    }
  }

  for (const workspace of workspaces)
    for (const thread of ['t0', 't1']) await createThread(url(), thread, workspace)
  const posting = workspaces.flatMap((workspace) =>
    Array.from({ length: posters }, (_, poster) => keepPosting(workspace, poster)),
  )
  const watching = [...workspaces.map(keepFollowing), keepProbing('ready'), keepProbing('health')]
  return {
    get part() {
      return part
    },
    endPart: () => {
      const ended = part
      part = emptyPart(ended.ready.slice(-1), ended.health.slice(-1))
      return ended
    },
    stop: async () => {
      isOver = true
      await Promise.all(posting)
    },
    end: async (heads) => {
      const deadline = performance.now() + 40_000
      const isBehind = () =>
        [...heads].some(([workspace, head]) => (followed.get(workspace)?.at(-1) ?? 0) < head)
      while (isBehind() && performance.now() < deadline) await pause(20)
      isFollowing = false
      for (const stream of open.values()) stream.drop()
      await Promise.all(watching)
      return { acknowledged, followed, wrong }
    },
  }
}
