/** Following the log through the schema, without a transport. */
import { type ExecutionResult, parse, subscribe } from 'graphql'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Authorize, Caller, GraphQLContext, Streaming } from '../../src/graphql/context.js'
import { createSchema } from '../../src/graphql/schema.js'
import { Runner } from '../../src/runner/runner.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import { type Storage, StorageUnavailable } from '../../src/storage/port.js'
import { Workspaces } from '../../src/workspace/workspaces.js'

const schema = createSchema()
const document = parse(`subscription ($workspaceId: ID!, $afterSeq: Seq, $threadIds: [ID!]) {
  events(workspaceId: $workspaceId, afterSeq: $afterSeq, threadIds: $threadIds) {
    __typename
    ... on Envelope { seq event { type } }
    ... on ReplayComplete { upToSeq }
    ... on LogReset { headSeq }
  }
}`)

const caller: Caller = { tenantId: 'acme', actor: { kind: 'user', id: 'ada' } }

interface Options extends Partial<Omit<Caller, 'workspaces'>> {
  readonly allowedWorkspaces?: readonly string[]
  readonly storage?: Storage
  readonly authorize?: Authorize
  readonly streaming?: Streaming
}

const subscribing = ({ storage = new MemoryStorage(), authorize = () => true, ...options }: Options = {}) => {
  const workspaces = new Workspaces(storage)
  const runner = new Runner({ workspaces, agent: null })
  const workspace = workspaces.open('acme', 'w1', { actor: caller.actor })
  const contextValue: GraphQLContext = {
    ...caller,
    workspaces,
    runner,
    authorize,
    requestId: 'r1',
    ...options,
  }
  const begin = (variables: Record<string, unknown> = {}) =>
    subscribe({ schema, document, contextValue, variableValues: { workspaceId: 'w1', ...variables } })
  /** The frames of a subscription, in short. */
  const follow = async (variables: Record<string, unknown> = {}) => {
    const results = await begin(variables)
    if (!(Symbol.asyncIterator in results)) throw new Error(JSON.stringify(results))
    const take = async (count: number): Promise<unknown[]> => {
      const frames: unknown[] = []
      for (let n = 0; n < count; n++) frames.push(inShort((await results.next()).value ?? undefined))
      return frames
    }
    return { results, take }
  }
  const refusal = async (variables: Record<string, unknown>) => {
    const result = await begin(variables)
    if (Symbol.asyncIterator in result) throw new Error('it was not refused')
    return result.errors?.[0]?.extensions
  }
  const thread = (threadId: string) => workspace.commit({ type: 'create_thread', threadId })
  const post = (threadId = 't1') => workspace.commit({ type: 'post_message', threadId, content: 'hello' })
  return { storage, follow, refusal, thread, post }
}

/** A number for an envelope, its name and number for another frame. */
const inShort = (result: ExecutionResult | undefined): unknown => {
  const frame = result?.data?.['events']
  if (typeof frame !== 'object' || frame === null) throw new Error(JSON.stringify(result))
  if ('seq' in frame) return frame.seq
  return 'upToSeq' in frame
    ? `complete ${frame.upToSeq}`
    : 'headSeq' in frame
      ? `reset ${frame.headSeq}`
      : frame
}

const rejection = async (promise: Promise<unknown>) =>
  promise.then(
    () => null,
    (error) => error.extensions ?? error,
  )

describe('a subscription to the log', () => {
  it('is sent what is stored, that this is all of it, and then what happens', async () => {
    const { follow, thread, post } = subscribing()
    await thread('t1')
    await post()
    const { take } = await follow({ afterSeq: 0 })
    expect(await take(3)).toEqual([1, 2, 'complete 2'])
    await post()
    expect(await take(1)).toEqual([3])
  })

  it('begins after any position', async () => {
    const { follow, thread, post } = subscribing()
    await thread('t1')
    await post()
    await post()
    expect(await (await follow({ afterSeq: 1 })).take(3)).toEqual([2, 3, 'complete 3'])
    expect(await (await follow({ afterSeq: 3 })).take(1)).toEqual(['complete 3'])
  })

  it('is sent only what happens from now on where no position is given', async () => {
    for (const variables of [{}, { afterSeq: null }]) {
      const { follow, thread, post } = subscribing()
      await thread('t1')
      const { take } = await follow(variables)
      expect(await take(1)).toEqual(['complete 1'])
      await post()
      expect(await take(1)).toEqual([2])
    }
  })

  it('misses nothing that happens between its answer and its first frame', async () => {
    const { follow, thread, post } = subscribing()
    await thread('t1')
    const { take } = await follow()
    await post()
    await post()
    expect(await take(3)).toEqual(['complete 1', 2, 3])
  })

  it('follows a workspace that nothing was ever written to', async () => {
    const { follow, thread } = subscribing()
    const { take } = await follow({ afterSeq: 0 })
    expect(await take(1)).toEqual(['complete 0'])
    await thread('t1')
    expect(await take(1)).toEqual([1])
  })

  it('is told first that its position is of a log that is no more, and sent everything', async () => {
    const { follow, thread, post } = subscribing()
    await thread('t1')
    const { take } = await follow({ afterSeq: 7 })
    expect(await take(3)).toEqual(['reset 1', 1, 'complete 1'])
    await post()
    expect(await take(1)).toEqual([2])
  })

  it('is told that it has everything, also where the last of it does not concern it', async () => {
    const { follow, thread, post } = subscribing()
    for (const threadId of ['t1', 't2']) await thread(threadId)
    for (const threadId of ['t1', 't2', 't2']) await post(threadId)
    const { take } = await follow({ afterSeq: 0, threadIds: ['t1'] })
    expect(await take(3)).toEqual([1, 3, 'complete 5'])
    await post('t2')
    await post('t1')
    expect(await take(1)).toEqual([7])
    expect(await (await follow({ afterSeq: 0, threadIds: [] })).take(1)).toEqual(['complete 7'])
  })

  it('is told so exactly once, at the head there was, while others write', async () => {
    const { follow, thread, post } = subscribing()
    await thread('t1')
    for (let n = 0; n < 300; n++) await post()
    const { take } = await follow({ afterSeq: 0 })
    const writing = Promise.all(Array.from({ length: 200 }, () => post()))
    const frames = await take(502)
    await writing
    expect(frames.indexOf('complete 301')).toBe(301)
    expect(frames.filter((frame) => frame !== 'complete 301')).toEqual(
      Array.from({ length: 501 }, (_, index) => index + 1),
    )
  })

  it('goes on where Last-Event-ID says, whatever its arguments say', async () => {
    const { follow, thread, post } = subscribing({ streaming: { lastEventId: '2' } })
    await thread('t1')
    await post()
    await post()
    expect(await (await follow({ afterSeq: 0 })).take(2)).toEqual([3, 'complete 3'])
  })

  it('tells its transport the position of each frame before it is sent', async () => {
    const positions: number[] = []
    const streaming: Streaming = { onPosition: (seq) => positions.push(seq) }
    const { follow, thread } = subscribing({ streaming })
    await thread('t1')
    const { take } = await follow({ afterSeq: 9 })
    await take(3)
    expect(positions).toEqual([0, 1, 1])
  })

  it('holds nothing before its first frame, and nothing after its end', async () => {
    let subscribed = 0
    const storage = new MemoryStorage()
    const inner = storage.subscribe.bind(storage)
    storage.subscribe = async function* (...given) {
      subscribed++
      try {
        yield* inner(...given)
      } finally {
        subscribed--
      }
    }
    const { follow, thread } = subscribing({ storage })
    await thread('t1')
    const { results, take } = await follow({ afterSeq: 0 })
    expect(subscribed).toBe(0)
    await take(2)
    expect(subscribed).toBe(1)
    const waiting = results.next()
    await results.return(undefined)
    expect(await waiting).toEqual({ done: true, value: undefined })
    await expect.poll(() => subscribed, { timeout: 20_000 }).toBe(0)
  })
})

describe('a subscription that is refused', () => {
  it('is refused before it is sent anything', async () => {
    const { refusal } = subscribing({ authorize: ({ workspaceId }) => workspaceId === 'w1' })
    expect(await refusal({ workspaceId: 'other' })).toEqual({ code: 'FORBIDDEN' })
    expect(await refusal({ workspaceId: '' })).toEqual({ code: 'BAD_USER_INPUT', argument: 'workspaceId' })
    expect(await refusal({ threadIds: Array.from({ length: 201 }, () => '') })).toEqual({
      code: 'BAD_USER_INPUT',
      argument: 'threadIds',
    })
    expect(await refusal({ threadIds: ['t1', '\n'] })).toEqual({
      code: 'BAD_USER_INPUT',
      argument: 'threadIds.1',
    })
    expect(await refusal({ afterSeq: -1 })).toMatchObject({ code: 'BAD_USER_INPUT' })
  })

  it('is one whose Last-Event-ID was never sent', async () => {
    for (const lastEventId of ['x', '-1', '1.5', '1e3', '9007199254740993']) {
      const { refusal } = subscribing({ streaming: { lastEventId } })
      expect(await refusal({})).toEqual({ code: 'BAD_USER_INPUT', argument: 'Last-Event-ID' })
    }
  })
})

describe('a running subscription', () => {
  it('ends with FORBIDDEN once its caller may no longer use the workspace, and is sent nothing more', async () => {
    let allowed = true
    const options: Options = { authorize: () => allowed, streaming: { recheckEvery: 5 } }
    const { follow, thread, post } = subscribing(options)
    await thread('t1')
    const { results, take } = await follow({ afterSeq: 0 })
    expect(await take(2)).toEqual([1, 'complete 1'])
    const waiting = results.next()
    allowed = false
    expect(await rejection(waiting)).toEqual({ code: 'FORBIDDEN' })
    await post()
    expect((await results.next()).done).toBe(true)
  })

  it('ends where it cannot be found out whether its caller may still use the workspace', async () => {
    let isDown = false
    const authorize = async () => {
      if (isDown) throw new StorageUnavailable('down')
      return true
    }
    const { follow } = subscribing({ authorize, streaming: { recheckEvery: 5 } })
    const { results, take } = await follow()
    await take(1)
    isDown = true
    const error = await results.next().catch((error) => error)
    expect(error.originalError ?? error).toBeInstanceOf(StorageUnavailable)
  })

  it('ends with TOKEN_EXPIRED once the credentials of its caller expire, to be tried again', async () => {
    vi.useFakeTimers()
    onTestFinished(() => void vi.useRealTimers())
    const { follow } = subscribing({ expiresAt: Date.now() + 50 })
    const { results, take } = await follow()
    expect(await take(1)).toEqual(['complete 0'])
    const ended = rejection(results.next())
    await vi.advanceTimersByTimeAsync(50)
    expect(await ended).toEqual({ code: 'TOKEN_EXPIRED', retryable: true })
    const { follow: late } = subscribing({ expiresAt: Date.now() - 1 })
    expect(await rejection((await late()).results.next())).toMatchObject({ code: 'TOKEN_EXPIRED' })
  })

  it('ends when its storage is closed', async () => {
    const { storage, follow } = subscribing()
    const { results, take } = await follow()
    await take(1)
    const waiting = results.next().catch((error) => error)
    await storage.close()
    const error = await waiting
    expect(error.originalError ?? error).toBeInstanceOf(StorageUnavailable)
  })
})
