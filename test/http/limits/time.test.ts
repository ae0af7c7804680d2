/** Nothing takes longer than it may: whoever waits hears so, and nothing more of it is begun. */
import { describe, expect, it } from 'vitest'
import { exchangeOf } from '../../../src/http/exchange.js'
import { resultsInTime } from '../../../src/http/limits/time.js'
import { MemoryStorage } from '../../../src/storage/memory.js'
import type { Storage } from '../../../src/storage/port.js'
import { openEventStream } from '../../support/eventStreams.js'
import { post, until } from '../../support/gateway.js'
import { askBothWays, CREATE_THREAD, codesIn, errorsIn } from '../../support/limits.js'
import { createThread, postMessage } from '../../support/posts.js'
import { serving } from '../../support/serving.js'
import { openSocket } from '../../support/sockets.js'

/** A gateway whose application takes until it is told to say who may do what. */
const hanging = async ({
  operationTimeout = 1_000,
  ...options
}: {
  operationTimeout?: number
  storage?: Storage
} = {}) => {
  const asked: string[] = []
  const waiting: (() => void)[] = []
  const served = await serving({
    ...options,
    limits: { operationTimeout },
    authorize: ({ workspaceId }) => {
      asked.push(workspaceId)
      if (!workspaceId.startsWith('slow')) return true
      return new Promise((resolve) => waiting.push(() => resolve(true)))
    },
  })
  const goOn = () => {
    for (const resolve of waiting.splice(0)) resolve()
  }
  return { ...served, asked, goOn }
}

/** The storage, and the names of what it is asked for. */
const spied = (storage: MemoryStorage, used: string[]): Storage =>
  new Proxy(storage, {
    get: (target, name) => {
      const value: unknown = Reflect.get(target, name, target)
      if (typeof value !== 'function') return value
      return (...given: unknown[]) => {
        // The gateway looks for turns it owes by itself.
        if (/^(threads|messages|events|transaction|load|head|runs)/.test(String(name)))
          used.push(String(name))
        return Reflect.apply(value, target, given)
      }
    },
  })

describe('an operation that takes too long', () => {
  it('ends with an error that says so, over HTTP and over a WebSocket', async () => {
    const { url } = await hanging()
    const query = '{ workspace(workspaceId: "slow") { headSeq } }'
    for (const answer of await askBothWays(url, { query })) {
      expect(codesIn(answer)).toEqual(['TIMEOUT'])
      const [error] = errorsIn(answer)
      expect(error?.extensions['retryable']).toBe(true)
      expect(error?.message).toContain('Trying again is safe')
      expect(answer.body).not.toHaveProperty('data')
    }
    const { status } = await post(url, { query }, { accept: 'application/json' })
    expect(status).toBe(504)
  })

  it('begins nothing more, and what it had begun is finished', async () => {
    const { url, asked, goOn } = await hanging()
    const create = (workspaceId: string) =>
      `createThread(input: { workspaceId: "${workspaceId}" }) { __typename }`
    const query = `mutation { a: ${create('w1')} b: ${create('slow')} c: ${create('w2')} }`
    const answer = await post(url, { query })
    expect([answer.status, codesIn(answer)]).toEqual([504, ['TIMEOUT']])
    expect(errorsIn(answer)[0]?.message).toContain('It may have been carried out')
    goOn()
    const head = async (workspaceId: string) => {
      const { body } = await post(url, { query: `{ workspace(workspaceId: "${workspaceId}") { headSeq } }` })
      return body.data.workspace.headSeq
    }
    expect(await head('w1')).toBe(1)
    expect(asked.filter((id) => id === 'w2')).toEqual([])
    expect(await head('w2')).toBe(0)
  })

  it('asks nothing more of the storage, whatever comes late', async () => {
    const used: string[] = []
    const storage = spied(new MemoryStorage(), used)
    const { url, goOn } = await hanging({ storage })
    const query = '{ workspace(workspaceId: "slow") { headSeq threads { edges { node { title } } } } }'
    expect(codesIn(await post(url, { query }))).toEqual(['TIMEOUT'])
    goOn()
    await post(url, { query: '{ viewer { tenantId } }' })
    expect(used).toEqual([])
    await post(url, { query: query.replace('slow', 'w1') })
    expect(used).not.toEqual([])
  })

  it('is no fault of others, and leaves no timer behind', async () => {
    const { url } = await hanging({ operationTimeout: 600_000 })
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length
    const before = timers()
    for (let count = 0; count < 50; count++) await post(url, { query: `mutation { ${CREATE_THREAD} }` })
    await until(20_000, 'the timers to be gone', () => timers() <= before + 2 || null)
  })
})

describe('a subscription', () => {
  it('that takes too long to begin ends with an error', async () => {
    const { url, goOn } = await hanging()
    const stream = await openEventStream(url, { variables: { workspaceId: 'slow' } })
    await stream.come('the end', () => stream.isOver)
    expect(stream.failure()).toMatchObject({ code: 'TIMEOUT', retryable: true })
    const client = await openSocket(url)
    await client.init()
    client.subscribe('a', { variables: { workspaceId: 'slow2' } })
    await client.over('a')
    expect(codesIn({ body: client.of('a')[0]?.payload })).toEqual(['TIMEOUT'])
    goOn()
  })

  it('lasts longer than an operation may take', async () => {
    const { url } = await hanging()
    await createThread(url)
    const stream = await openEventStream(url)
    await stream.comeTo(1)
    // Long enough for the time to be over twice.
    await new Promise((resolve) => setTimeout(resolve, 2_200))
    await postMessage(url)
    await stream.comeTo(2)
    expect(stream.failure()).toBeUndefined()
    stream.drop()
  })

  it('ends when one of its results takes too long to be made, and not while it waits for a frame', async () => {
    const exchange = exchangeOf(new Request('http://gateway/graphql'))
    const steps: string[] = []
    let waited = 0
    const source: AsyncIterable<string> = {
      [Symbol.asyncIterator]: () => ({
        next: async () => {
          await new Promise((resolve) => setTimeout(resolve, waited++ === 0 ? 120 : 0))
          exchange.onFrame?.()
          steps.push('frame')
          return waited === 1 ? { done: false, value: 'first' } : new Promise(() => undefined)
        },
        return: async () => {
          steps.push('ended')
          return { done: true, value: undefined }
        },
      }),
    }
    const results = resultsInTime(30, exchange, source)
    expect(await results.next()).toEqual({ done: false, value: 'first' })
    await expect(results.next()).rejects.toMatchObject({ extensions: { code: 'TIMEOUT', retryable: true } })
    expect(await results.next()).toMatchObject({ done: true })
    expect(steps).toEqual(['frame', 'frame', 'ended'])
  })
})
