/** What metrics and traces cost: the same posts to gateways that differ in nothing else, in turn, so that whatever else goes on meets them all. */
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { onTestFinished, test } from 'vitest'
import { openCollector } from '../support/collector.js'
import { type RunningGateway, startGateway } from '../support/gateway.js'
import { createThread } from '../support/posts.js'

const ROUNDS = 6
const POSTS = 3_000
const AT_ONCE = 16

const agent = new Agent({ keepAlive: true, maxSockets: AT_ONCE })

const POST = `mutation Post { postMessage(input: { workspaceId: "w1", threadId: "t1", content: "hello" }) { __typename } }`

const post = (url: string): Promise<void> =>
  new Promise((resolve, reject) => {
    const headers = {
      'content-type': 'application/json',
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    }
    const asked = request(`${url}/graphql`, { method: 'POST', agent, headers }, (response) => {
      response.resume().once('end', resolve)
    })
    asked.once('error', reject).end(JSON.stringify({ query: POST }))
  })

const postAll = async (url: string): Promise<void> => {
  let left = POSTS
  const one = async () => {
    while (left-- > 0) await post(url)
  }
  await Promise.all(Array.from({ length: AT_ONCE }, one))
}

/** The processor time a process has used, in seconds, to the hundredth: as Linux counts it, in ticks. */
const secondsOf = ({ pid }: RunningGateway): number => {
  const [, fields = ''] = readFileSync(`/proc/${pid}/stat`, 'utf8').split(') ')
  const [user = 0, system = 0] = fields.split(' ').slice(11, 13).map(Number)
  return (user + system) / 100
}

test('posts to a gateway in memory, with metrics and traces and without', async () => {
  const collector = await openCollector()
  const setups: Record<string, Record<string, string>> = {
    'no metrics': { METRICS: 'off' },
    metrics: { METRICS: 'on' },
    'metrics and traces, one in ten sampled': {
      METRICS: 'on',
      OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
      OTEL_TRACES_SAMPLER: 'traceidratio',
      OTEL_TRACES_SAMPLER_ARG: '0.1',
    },
    'metrics and traces, all of them': { METRICS: 'on', OTEL_EXPORTER_OTLP_ENDPOINT: collector.url },
  }
  const gateways = await Promise.all(
    Object.entries(setups).map(async ([name, env]) => {
      const gateway = await startGateway({ AGENT: 'none', ...env })
      onTestFinished(async () => void (await gateway.kill()))
      await createThread(gateway.url)
      await postAll(gateway.url)
      return { name, gateway, took: 0, used: secondsOf(gateway) }
    }),
  )
  for (let round = 0; round < ROUNDS; round++) {
    for (const measured of gateways) {
      const begun = performance.now()
      await postAll(measured.gateway.url)
      measured.took += performance.now() - begun
    }
  }
  for (const { name, gateway, took, used } of gateways) {
    const posts = ROUNDS * POSTS
    const perPost = ((secondsOf(gateway) - used) * 1e6) / posts
    console.log(
      `${name}: ${Math.round((posts * 1000) / took)} posts/s, ${perPost.toFixed(0)} µs of processor time each`,
    )
  }
})
