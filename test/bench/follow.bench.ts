/** From commit to delivery across two processes on one PostgreSQL, and what 1,000 subscribers of one workspace cost. */
import { execFileSync } from 'node:child_process'
import { connect, type Socket } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { openEventStream } from '../support/eventStreams.js'
import { type RunningGateway, startGateway, until } from '../support/gateway.js'
import { createMigratedDatabase, describePostgres } from '../support/postgres.js'
import { createThread, postMessage } from '../support/posts.js'

const twoGateways = async (): Promise<[RunningGateway, RunningGateway]> => {
  const { url, drop } = await createMigratedDatabase()
  onTestFinished(drop)
  const env = { DATABASE_URL: url, AGENT: 'none' }
  const gateways: [RunningGateway, RunningGateway] = [await startGateway(env), await startGateway(env)]
  await createThread(gateways[0].url)
  return gateways
}

const quantiles = (numbers: readonly number[]): string => {
  const sorted = [...numbers].sort((a, b) => a - b)
  const at = (share: number) => (sorted[Math.floor(share * (sorted.length - 1))] ?? Number.NaN).toFixed(1)
  return `median ${at(0.5)} ms, 95 % within ${at(0.95)} ms, 99 % within ${at(0.99)} ms, at most ${at(1)} ms`
}

const psOf = (pid: number, field: string): string =>
  execFileSync('ps', ['-o', `${field}=`, '-p', String(pid)], { encoding: 'utf8' }).trim()

const megabytesOf = (pid: number): number => Number(psOf(pid, 'rss')) / 1024

/** The processor time a process has used, in seconds. */
const secondsOf = (pid: number): number => Number(psOf(pid, 'cputimes'))

/** A subscriber that counts what comes and looks into none of it, so that it is the gateway that is measured. */
const openCounter = (url: string): Promise<{ readonly frames: number; readonly socket: Socket }> =>
  new Promise((resolve, reject) => {
    const { hostname, port } = new URL(url)
    const query =
      'subscription { events(workspaceId: "w1") { __typename ... on Envelope { seq id ts event { type } } } }'
    let frames = 0
    const socket = connect({ host: hostname, port: Number(port) }, () => {
      const target = `/graphql?${new URLSearchParams({ query })}`
      socket.write(`GET ${target} HTTP/1.1\r\nhost: ${hostname}\r\naccept: text/event-stream\r\n\r\n`)
    })
    socket.on('error', reject)
    const counter = {
      socket,
      get frames() {
        return frames
      },
    }
    socket.on('data', (chunk) => {
      for (let at = chunk.indexOf('event: next'); at >= 0; at = chunk.indexOf('event: next', at + 1)) frames++
      if (frames > 0) resolve(counter)
    })
  })

describePostgres('following', () => {
  test('from commit to delivery, from one process to another', async () => {
    const [writing, reading] = await twoGateways()
    const client = await openEventStream(reading.url)
    onTestFinished(() => client.drop())
    await client.comeTo(1)
    const arrivals = new Map<number, number>()
    client.response.on('data', () => {
      const seq = client.seqs.at(-1) ?? 0
      if (!arrivals.has(seq)) arrivals.set(seq, performance.now())
    })
    const delays: number[] = []
    for (let n = 0; n < 500; n++) {
      const seq = await postMessage(writing.url)
      const committed = performance.now()
      await client.comeTo(seq)
      if (n >= 100) delays.push(Math.max(0, (arrivals.get(seq) ?? Number.NaN) - committed))
    }
    console.log(`from the answer to a post to its delivery by the other process: ${quantiles(delays)}`)
    expect(delays.length).toBe(400)
  })

  test('a thousand subscribers of one workspace', async () => {
    const [writing, reading] = await twoGateways()
    const { url, pid } = reading
    const idle = megabytesOf(pid)
    const begun = performance.now()
    const counters: Awaited<ReturnType<typeof openCounter>>[] = []
    while (counters.length < 1_000)
      counters.push(...(await Promise.all(Array.from({ length: 50 }, () => openCounter(url)))))
    onTestFinished(() => {
      for (const { socket } of counters) socket.destroy()
    })
    const connected = performance.now() - begun
    const held = megabytesOf(pid)
    const perSubscriber = ((held - idle) * 1024) / counters.length
    console.log(
      `1,000 subscribers came in ${(connected / 1000).toFixed(1)} s; ${perSubscriber.toFixed(0)} kB of memory each`,
    )
    const events = 100
    const delays: number[] = []
    const used = secondsOf(pid)
    for (let n = 1; n <= events; n++) {
      await postMessage(writing.url)
      const committed = performance.now()
      await until(30_000, 'everyone to have it', () => counters.every(({ frames }) => frames > n) || null)
      delays.push(performance.now() - committed)
    }
    const perFrame = ((secondsOf(pid) - used) * 1e6) / (events * counters.length)
    console.log(`from the answer to a post until all 1,000 have it: ${quantiles(delays)}`)
    console.log(`${perFrame.toFixed(0)} µs of processor time for each event and subscriber`)
    console.log(`${megabytesOf(pid).toFixed(0)} MB in use afterwards, of ${idle.toFixed(0)} MB before`)
  })
})
