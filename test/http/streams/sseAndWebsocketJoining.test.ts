/** Readers of two processes on one database, over both transports, while two other processes write. */
import { setTimeout as pause } from 'node:timers/promises'
import { describe, expect, onTestFinished, test } from 'vitest'
import { openEventStream } from '../../support/eventStreams.js'
import { openFlood } from '../../support/flood.js'
import { startGateway } from '../../support/gateway.js'
import { describePostgres, migratedDatabase } from '../../support/postgres.js'
import { createThread, postMany, upTo } from '../../support/posts.js'
import { type Message, openSocket } from '../../support/sockets.js'
import { temporaryDirectory } from '../../support/tmp.js'

const POSTS = 2_000
const READERS = 16
/** One thread, then a message for each reader, since a reader goes on after a position that there is; then what is written meanwhile. */
const LAST = 1 + READERS + POSTS

/** Little of each event, so that it is the order that is tested and not the processor. */
const query =
  'subscription ($afterSeq: Seq) { events(workspaceId: "w1", afterSeq: $afterSeq) { ... on Envelope { seq } } }'

interface Joined {
  readonly from: number
  /** Waits until the last event has come, and gives the places of all. */
  readonly all: () => Promise<number[]>
}

const overEventStream = async (url: string, from: number): Promise<Joined> => {
  const client = await openEventStream(url, { query, variables: { afterSeq: from } })
  onTestFinished(() => client.drop())
  return {
    from,
    all: async () => {
      await client.comeTo(LAST, 60_000)
      return client.seqs
    },
  }
}

const overWebSocket = async (url: string, from: number): Promise<Joined> => {
  const client = await openSocket(url)
  await client.init()
  client.subscribe('a', { query, variables: { afterSeq: from } })
  return {
    from,
    all: async () => {
      // Nothing but the end of its replay may come after it.
      const isLast = ({ payload }: Message) => payload?.data?.events?.seq === LAST
      await client.come('the last event', () => client.messages.slice(-2).some(isLast), 60_000)
      return client.seqs('a')
    },
  }
}

const factsOf = (database: () => Promise<string>): void => {
  test('each reader, whenever it joins and wherever, sees every event once and in order', async () => {
    const env = { DATABASE_URL: await database(), AGENT: 'none' }
    const first = await startGateway(env)
    await createThread(first.url)
    await postMany(first.url, READERS)
    const half = { messages: POSTS / 2, length: 20, atOnce: 6 }
    const [second, ...floods] = await Promise.all([
      startGateway(env),
      openFlood(env.DATABASE_URL, half),
      openFlood(env.DATABASE_URL, half),
    ])
    const gateways = [first, second]
    const writing = Promise.all(floods.map((flood) => flood()))
    const readers: Joined[] = []
    for (let n = 0; n < READERS; n++) {
      const { url } = gateways[n % 2] ?? first
      const join = n % 4 < 2 ? overEventStream : overWebSocket
      readers.push(await join(url, n % 3 === 0 ? n : 0))
      await pause(Math.random() * 120)
    }
    await writing
    for (const { from, all } of readers) expect(await all()).toEqual(upTo(LAST, from))
  }, 120_000)
}

describe('on SQLite', () => {
  factsOf(async () => `file:${temporaryDirectory()}/artifactr.db`)
})

describePostgres('on PostgreSQL', () => {
  factsOf(migratedDatabase)
})
