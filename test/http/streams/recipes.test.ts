/** The recipes of the README: each client misses nothing and gets nothing twice, whatever becomes of the gateway meanwhile. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { EventSource } from 'eventsource'
import { parse } from 'graphql'
import { createClient as createSseClient } from 'graphql-sse'
import type { Client } from 'graphql-ws'
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { freePort } from '../../support/embeddedPostgres.js'
import { type RunningGateway, startGateway, until } from '../../support/gateway.js'
import { createThread, postMessage, upTo } from '../../support/posts.js'
import { createApolloClient, followLog as followOverApollo } from '../recipes/apollo.js'
import { followLog as followOverEventSource } from '../recipes/eventSource.js'
import { connect, followLog } from '../recipes/graphqlWs.js'
import { EVENTS, type Frame } from '../recipes/position.js'
import { createUrqlClient } from '../recipes/urql.js'

const USER = { 'x-user': 'ann' }

/** Opens a follower of workspace w1 and returns how to stop it. */
type Recipe = (url: string, onFrame: (frame: Frame) => void) => () => void

const sockets = new Set<Client>()

const socketTo = (url: string): Client => {
  const socket = connect(`${url.replace('http', 'ws')}/graphql`, () => USER, WebSocket)
  sockets.add(socket)
  return socket
}

afterAll(() => {
  for (const socket of sockets) void socket.dispose()
})

const fail = (error: unknown): never => {
  throw new Error(JSON.stringify(error))
}

const recipes: Record<string, Recipe> = {
  'graphql-ws': (url, onFrame) => followLog(socketTo(url), 'w1', 0, onFrame, fail),
  urql: (url, onFrame) => {
    const client = createUrqlClient(`${url}/graphql`, socketTo(url))
    const { unsubscribe } = client
      .subscription<{ events: Frame }>(EVENTS, { workspaceId: 'w1', afterSeq: 0 })
      .subscribe(({ data, error }) => {
        if (error) fail(error)
        if (data) onFrame(data.events)
      })
    return unsubscribe
  },
  Apollo: (url, onFrame) =>
    followOverApollo(createApolloClient(`${url}/graphql`, socketTo(url)), 'w1', 0, onFrame, fail),
  EventSource: (url, onFrame) =>
    followOverEventSource((target) => new EventSource(target), `${url}/graphql`, 'w1', 0, onFrame, fail),
}

/** What each of them has come to see. */
const seen = new Map<string, Frame[]>(Object.keys(recipes).map((name) => [name, []]))

const seqsOf = (frames: readonly Frame[]): number[] =>
  frames.flatMap((frame) => (frame.__typename === 'Envelope' ? [frame.seq] : []))

const replaysOf = (frames: readonly Frame[]): number =>
  frames.filter(({ __typename }) => __typename === 'ReplayComplete').length

/** Waits until all have seen the event, and the end of as many replays: that frame may come after the last event. */
const allComeTo = (seq: number, replays: number) =>
  until(20_000, `the event ${seq} and ${replays} replays`, () =>
    [...seen.values()].every((frames) => seqsOf(frames).at(-1) === seq && replaysOf(frames) >= replays)
      ? true
      : null,
  )

describe('while the gateway is killed, stopped and started again', () => {
  const directory = mkdtempSync(path.join(tmpdir(), 'artifactr-recipes-'))
  let gateway: RunningGateway
  const stops: (() => void)[] = []

  beforeAll(async () => {
    const PORT = String(await freePort())
    const env = { DATABASE_URL: `file:${directory}/artifactr.db`, AGENT: 'none', PORT }
    gateway = await startGateway(env)
    const { url } = gateway
    await createThread(url)
    for (const [name, follow] of Object.entries(recipes))
      stops.push(follow(url, (frame) => seen.get(name)?.push(frame)))
    await allComeTo(await postMessage(url), 1)
    for (const [index, signal] of (['SIGKILL', 'SIGTERM'] as const).entries()) {
      await gateway.kill(signal)
      gateway = await startGateway(env)
      // Before any client is back.
      await allComeTo(await postMessage(url), index + 2)
      await allComeTo(await postMessage(url), index + 2)
    }
  }, 90_000)

  afterAll(async () => {
    for (const stop of stops) stop()
    await gateway.kill()
    rmSync(directory, { recursive: true, force: true })
  })

  it.each(Object.keys(recipes))('the recipe for %s misses nothing and gets nothing twice', (name) => {
    expect(seqsOf(seen.get(name) ?? [])).toEqual(upTo(6))
  })

  it.each(Object.keys(recipes))('the recipe for %s goes on where it was, and not from the start', (name) => {
    const frames = seen.get(name)?.filter(({ __typename }) => __typename !== 'Envelope')
    expect(frames?.map(({ __typename }) => __typename)).toEqual(Array(3).fill('ReplayComplete'))
  })
})

describe('clients as they are', () => {
  let gateway: RunningGateway
  beforeAll(async () => {
    gateway = await startGateway({ AGENT: 'none' })
    await createThread(gateway.url)
  })
  afterAll(() => gateway.kill())

  it('graphql-sse reads streams', async () => {
    const client = createSseClient({ url: `${gateway.url}/graphql`, headers: USER })
    onTestFinished(() => client.dispose())
    const results = client.iterate<{ events: Frame }>({
      query: EVENTS,
      variables: { workspaceId: 'w1', afterSeq: 0 },
    })
    expect((await results.next()).value?.data?.events).toMatchObject({ seq: 1 })
    expect((await results.next()).value?.data?.events).toMatchObject({ upToSeq: 1 })
    await results.return?.()
  })

  it('urql queries and mutates over HTTP beside it', async () => {
    const client = createUrqlClient(`${gateway.url}/graphql`, socketTo(gateway.url))
    const { data, error } = await client.query('{ viewer { tenantId } }', {}).toPromise()
    expect([data, error]).toEqual([{ viewer: { tenantId: 'dev' } }, undefined])
  })

  it('Apollo queries over HTTP beside it', async () => {
    const client = createApolloClient(`${gateway.url}/graphql`, socketTo(gateway.url))
    const { data } = await client.query<{ viewer: { tenantId: string } }>({
      query: parse('{ viewer { tenantId } }'),
    })
    expect(data?.viewer.tenantId).toBe('dev')
  })
})
