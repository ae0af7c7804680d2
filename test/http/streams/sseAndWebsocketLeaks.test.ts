/** Whatever clients do, nothing of them is left: no subscription, no timer, no listener, no socket, no memory. */
import { request } from 'node:http'
import { connect } from 'node:net'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { WebSocket } from 'ws'
import { MemoryStorage } from '../../../src/storage/memory.js'
import { Workspaces } from '../../../src/workspace/workspaces.js'
import { EVENTS } from '../../support/eventStreams.js'
import { until } from '../../support/gateway.js'
import { type Serving, serve } from '../../support/serving.js'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

/** A storage that knows how many subscribe to it. */
class CountingStorage extends MemoryStorage {
  subscribed = 0

  override async *subscribe(...given: Parameters<MemoryStorage['subscribe']>) {
    this.subscribed++
    try {
      yield* super.subscribe(...given)
    } finally {
      this.subscribed--
    }
  }
}

/** What of this process is open: timers and sockets, by kind. */
const resources = (): Record<string, number> => {
  const counts: Record<string, number> = { Timeout: 0, TCPSocketWrap: 0 }
  for (const name of process.getActiveResourcesInfo()) {
    if (name in counts) counts[name] = (counts[name] ?? 0) + 1
  }
  return counts
}

const usedMegabytes = (): number => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 1e6
}

const serving = async (): Promise<{ served: Serving; storage: CountingStorage }> => {
  const storage = new CountingStorage()
  const silent = () => undefined
  const logger = { debug: silent, info: silent, warn: silent, error: silent }
  const served = await serve({ storage, logger, streams: { initTimeout: 200 } })
  onTestFinished(async () => void (await served.stop()))
  const workspace = new Workspaces(storage).open('dev', 'w1', { actor: { kind: 'user', id: 'ada' } })
  await workspace.commit({ type: 'create_thread', threadId: 't1' })
  return { served, storage }
}

const body = JSON.stringify({ query: EVENTS, variables: { workspaceId: 'w1', afterSeq: 0 } })

/** Asks for a stream, and goes away at some moment: before its answer, during it, or once it waits. */
const dropEventStream = (url: string, moment: number): Promise<void> =>
  new Promise((resolve) => {
    const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
    const asked = request(`${url}/graphql`, { method: 'POST', headers, agent: false }, (response) => {
      response.on('error', () => undefined)
      response.once('data', () => {
        if (moment === 1) asked.destroy()
        else setTimeout(() => asked.destroy(), 5)
      })
    })
    asked.on('error', () => undefined)
    asked.on('close', resolve)
    asked.end(body, () => {
      if (moment === 0) setImmediate(() => asked.destroy())
    })
  })

/** The same with a WebSocket: before it is acknowledged, before its first event, or once it waits. */
const dropWebSocket = (url: string, moment: number): Promise<void> =>
  new Promise((resolve) => {
    const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
    const send = (message: object) => socket.send(JSON.stringify(message))
    let came = 0
    socket.on('error', () => undefined)
    socket.on('close', () => resolve())
    socket.on('open', () => {
      send({ type: 'connection_init' })
      if (moment === 0) socket.terminate()
    })
    socket.on('message', () => {
      came++
      if (came === 1) {
        send({ id: 'a', type: 'subscribe', payload: JSON.parse(body) })
        if (moment === 1) setImmediate(() => socket.terminate())
      }
      if (came === 3) socket.terminate()
    })
  })

const inTurns = async (count: number, atOnce: number, work: (n: number) => Promise<void>): Promise<void> => {
  let next = 0
  const one = async () => {
    while (next < count) await work(next++)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

/** Does something so often that what it leaves would show, and checks that it leaves nothing. */
const leavesNothing = async (
  { storage }: { storage: CountingStorage },
  count: number,
  work: (n: number) => Promise<void>,
  atOnce = 20,
): Promise<void> => {
  // Once for what is made once.
  await inTurns(100, atOnce, work)
  const settled = () => until(20_000, 'every subscription to end', () => storage.subscribed === 0 || null)
  await settled()
  await until(15_000, 'the sockets to be closed', () => resources()['TCPSocketWrap'] === 0 || null)
  const before = { resources: resources(), megabytes: usedMegabytes() }
  await inTurns(count, atOnce, work)
  await settled()
  await until(20_000, 'timers and sockets to be as they were', () => {
    const now = resources()
    const isBack = Object.entries(before.resources).every(([name, count]) => (now[name] ?? 0) <= count)
    return isBack || null
  })
  // What is let go of last is not collected first.
  let after = Number.POSITIVE_INFINITY
  await until(20_000, 'the memory to be as it was', () => {
    after = usedMegabytes()
    return after - before.megabytes < 3 || null
  })
  console.log(
    `${count} cycles: ${before.megabytes.toFixed(1)} MB in use before, ${after.toFixed(1)} MB after`,
  )
}

describe('a gateway', () => {
  it('has nothing left of 1,000 streams whose readers went away', async () => {
    const context = await serving()
    await leavesNothing(context, 1_000, (n) => dropEventStream(context.served.url, n % 3))
  }, 120_000)

  it('has nothing left of 1,000 WebSockets whose readers went away', async () => {
    const context = await serving()
    await leavesNothing(context, 1_000, (n) => dropWebSocket(context.served.url, n % 3))
  }, 120_000)

  it('has nothing left of 1,000 WebSockets that never say who they are', async () => {
    const context = await serving()
    const { url } = context.served
    const neverInitialised = async (): Promise<void> => {
      const socket = new WebSocket(`${url.replace('http', 'ws')}/graphql`, 'graphql-transport-ws')
      const code = await new Promise((resolve) => socket.once('close', resolve))
      expect(code).toBe(4408)
    }
    await leavesNothing(context, 1_000, neverInitialised, 100)
  }, 120_000)

  it('has nothing left of connections that ask for nothing at all', async () => {
    const context = await serving()
    const { hostname, port } = new URL(context.served.url)
    await leavesNothing(context, 200, async () => {
      const socket = connect({ host: hostname, port: Number(port) })
      await new Promise((resolve) => socket.once('connect', resolve))
      socket.destroy()
      await new Promise((resolve) => socket.once('close', resolve))
    })
  })
})
