import { request } from 'node:http'
import { setFlagsFromString } from 'node:v8'
import { runInNewContext } from 'node:vm'
import { describe, expect, it, onTestFinished } from 'vitest'
import { until } from '../../support/gateway.js'
import { createThread } from '../../support/posts.js'
import { type Serving, serving } from '../../support/serving.js'
import { openSocket } from '../../support/sockets.js'

setFlagsFromString('--expose-gc')
const collectGarbage: () => void = runInNewContext('gc')

const nothing = () => undefined
const silent = { debug: nothing, info: nothing, warn: nothing, error: nothing }

const usedMegabytes = (): number => {
  collectGarbage()
  return process.memoryUsage().heapUsed / 1e6
}

const SUBSCRIPTION = 'subscription Follow($w: ID!) { events(workspaceId: $w, afterSeq: 0) { __typename } }'

/** About 600 KB to send, and 8 MB to hold once it is parsed. */
const MUCH = Array.from({ length: 200_000 }, () => ({}))

/** What may come with a subscription and is not needed to carry it out. */
const comings: Record<string, object> = {
  extensions: { query: SUBSCRIPTION, variables: { w: 'w1' }, extensions: { much: MUCH } },
  'variables that it does not declare': { query: SUBSCRIPTION, variables: { w: 'w1', much: MUCH } },
  comments: { query: `${SUBSCRIPTION}${'#\n'.repeat(200_000)}`, variables: { w: 'w1' } },
  'another operation': {
    query: `${SUBSCRIPTION} query Other { workspace(workspaceId: "${'x'.repeat(600_000)}") { __typename } }`,
    operationName: 'Follow',
    variables: { w: 'w1' },
  },
}

type Begin = (body: string, count: number) => Promise<void>

const transports: Record<string, (served: Serving) => Promise<Begin>> = {
  SSE:
    async ({ url }) =>
    async (body, count) => {
      // One text for all: what a client holds is not what is measured.
      const bytes = Buffer.from(body)
      for (let begun = 0; begun < count; begun++) await beginEventStream(url, bytes)
    },
  WebSocket: async ({ url }) => {
    const client = await openSocket(url)
    await client.init()
    let begun = 0
    return async (body, count) => {
      for (const end = begun + count; begun < end; begun++) {
        const id = String(begun)
        client.send(`{"id":"${id}","type":"subscribe","payload":${body}}`)
        await client.come(
          'its first event',
          () => client.of(id)[0]?.payload.data.events.__typename === 'Envelope',
        )
      }
    }
  },
}

const beginEventStream = async (url: string, body: Buffer): Promise<void> => {
  const headers = { 'content-type': 'application/json', accept: 'text/event-stream' }
  const asked = request(`${url}/graphql`, { method: 'POST', headers, agent: false })
  onTestFinished(() => void asked.destroy())
  await new Promise<void>((resolve, reject) => {
    asked.on('error', reject)
    asked.once('response', (response) => {
      response.setEncoding('utf8')
      response.on('error', () => undefined)
      response.on('data', (text: string) => {
        if (text.includes('"__typename":"Envelope"')) resolve()
      })
    })
    asked.end(body)
  })
}

describe.each(Object.entries(transports))('a subscription over %s', (_, open) => {
  it.each(Object.entries(comings))(
    'holds nothing of %s it came with',
    async (_, coming) => {
      const served = await serving({ logger: silent })
      await createThread(served.url, 't1')
      const begin = await open(served)
      const body = JSON.stringify(coming)
      await begin(body, 2)
      const before = usedMegabytes()
      await begin(body, 20)
      // What is let go of last is not collected first.
      let more = Number.POSITIVE_INFINITY
      await until(10_000, 'it to be let go', () => {
        more = usedMegabytes() - before
        return more < 6 || null
      })
      expect(more).toBeLessThan(6)
    },
    60_000,
  )
})
