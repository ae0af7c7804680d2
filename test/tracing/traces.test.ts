/** Traces as a collector sees them, of a gateway that is told of one by OpenTelemetry's own variables. */
import { describe, expect, it } from 'vitest'
import { openPrismaStorage, Workspaces } from '../../src/index.js'
import { type Collector, INTERNAL, openCollector, type ReceivedSpan, SERVER } from '../support/collector.js'
import { type Answer, post, type RunningGateway, startGateway, until } from '../support/gateway.js'
import { describePostgres, migratedDatabase } from '../support/postgres.js'
import { createThread, postMessage } from '../support/posts.js'
import { openSocket } from '../support/sockets.js'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const CALLER = 'b7ad6b7169203331'
const traceparent = `00-${TRACE}-${CALLER}-01`
const headers = { traceparent }

/** A turn that makes an artifact. */
const NOTE = '/note MARKER-content'

const start = (env: Record<string, string>) => startGateway({ OTEL_BSP_SCHEDULE_DELAY: '50', ...env })

const LOG = `{ workspace(workspaceId: "w1") {
  events { seq traceparent event { type ... on RunStartedEvent { traceId } } }
  runs { edges { node { traceIds } } }
  artifacts { edges { node { revisions { edges { node { traceId } } } } } }
} }`

interface Logged {
  readonly traceparent: string | null
  readonly event: { readonly type: string; readonly traceId?: string }
}

const logOf = async ({ url }: RunningGateway) => {
  const events = (answer: Answer): Logged[] => answer.body.data.workspace.events
  const answer = await until(20_000, 'the turn to end', async () => {
    const asked = await post(url, { query: LOG })
    return events(asked).some(({ event }) => event.type === 'run_ended') ? asked : null
  })
  const { runs, artifacts } = answer.body.data.workspace
  return { events: events(answer), runs, artifacts }
}

const only = async (collector: Collector, name: string): Promise<ReceivedSpan> => {
  const [span, ...others] = await collector.come(name)
  expect(others.map(({ name }) => name)).toEqual([])
  if (span === undefined) throw new Error(`there is no ${name}`)
  return span
}

describe('a message that is posted within a trace', () => {
  const tracing = async (env: Record<string, string> = {}) => {
    const collector = await openCollector()
    const gateway = await start({ OTEL_EXPORTER_OTLP_ENDPOINT: collector.url, ...env })
    return { collector, gateway }
  }

  it('is one of its spans from the request to the turn, and what is written for it says so', async () => {
    const { collector, gateway } = await tracing()
    await createThread(gateway.url)
    await postMessage(gateway.url, NOTE, { headers, messageId: 'm1' })
    const { events, runs, artifacts } = await logOf(gateway)
    // Each comes after its parts, and either may come first.
    const spans = await until(20_000, 'the request and the turn', () => {
      const all = collector.spans.filter(({ traceId }) => traceId === TRACE)
      return ['POST /graphql', 'turn'].every((one) => all.some(({ name }) => name === one)) ? all : null
    })
    const named = (name: string) => {
      const [span, ...others] = spans.filter((span) => span.name === name)
      if (span === undefined || others.length > 0) throw new Error(`${others.length} more of ${name}`)
      return span
    }
    const posted = spans.find(
      ({ name, parentSpanId }) =>
        name === 'commit post_message' && parentSpanId === named('graphql mutation').spanId,
    )
    expect(named('POST /graphql')).toMatchObject({
      parentSpanId: CALLER,
      kind: SERVER,
      attributes: {
        'http.request.method': 'POST',
        'http.route': '/graphql',
        'http.response.status_code': 200,
      },
    })
    expect(named('graphql mutation')).toMatchObject({
      parentSpanId: named('POST /graphql').spanId,
      kind: INTERNAL,
      attributes: { 'graphql.operation.type': 'mutation', 'artifactr.operation.outcome': 'ok' },
    })
    expect(posted?.attributes).toEqual({
      'artifactr.command.type': 'post_message',
      'artifactr.command.outcome': 'accepted',
      'artifactr.tenant.id': 'dev',
      'artifactr.workspace.id': 'w1',
    })
    expect(named('turn')).toMatchObject({
      parentSpanId: posted?.spanId,
      attributes: { 'artifactr.turn.status': 'completed', 'artifactr.thread.id': 't1' },
    })
    expect(named('commit create_artifact').parentSpanId).toBe(named('turn').spanId)
    expect(named('commit run_ended').parentSpanId).toBe(named('turn').spanId)
    // What is written says which commit it was.
    const contextOf = (span: ReceivedSpan | undefined) => `00-${TRACE}-${span?.spanId}-01`
    const said = Object.fromEntries(events.map(({ event, traceparent }) => [event.type, traceparent]))
    expect(events[1]).toMatchObject({ event: { type: 'message_posted' }, traceparent: contextOf(posted) })
    expect(said['run_started']).toBe(contextOf(posted))
    expect(said['artifact_created']).toBe(contextOf(named('commit create_artifact')))
    expect(said['run_ended']).toBe(contextOf(named('commit run_ended')))
    expect(events.find(({ event }) => event.type === 'run_started')?.event.traceId).toBe(TRACE)
    expect(runs.edges[0].node.traceIds).toEqual([TRACE])
    expect(artifacts.edges[0].node.revisions.edges[0].node.traceId).toBe(TRACE)
    // Nobody named a trace for the thread: it has one of its own.
    expect(said['thread_created']).toMatch(/^00-[0-9a-f]{32}-[0-9a-f]{16}-01$/)
    expect(said['thread_created']).not.toContain(TRACE)
    expect(collector.services).toEqual(new Set(['artifactr-gateway']))
    expect(collector.received.join()).not.toContain('MARKER')
  })

  it('is so over a WebSocket as well, where each operation names its own', async () => {
    const { collector, gateway } = await tracing({ AGENT: 'none' })
    const client = await openSocket(gateway.url)
    await client.init()
    client.send({
      id: 'c',
      type: 'subscribe',
      payload: {
        query: 'mutation Create { createThread(input: { workspaceId: "w1" }) { __typename } }',
        extensions: { traceparent },
      },
    })
    await client.over('c')
    const operation = await only(collector, 'graphql mutation')
    expect(operation).toMatchObject({
      traceId: TRACE,
      parentSpanId: CALLER,
      kind: SERVER,
      attributes: { 'graphql.operation.name': 'Create' },
    })
    expect(await only(collector, 'commit create_thread')).toMatchObject({
      traceId: TRACE,
      parentSpanId: operation.spanId,
    })
  })

  it('is not sent when its caller does not sample it, and stays in its trace', async () => {
    const { collector, gateway } = await tracing({ AGENT: 'none' })
    await createThread(gateway.url, 't1', 'w1', { traceparent: `00-${TRACE}-${CALLER}-00` })
    await createThread(gateway.url, 't2')
    await only(collector, 'commit create_thread')
    expect(collector.spans.filter(({ traceId }) => traceId === TRACE)).toEqual([])
    const { body } = await post(gateway.url, { query: LOG })
    expect(body.data.workspace.events[0].traceparent).toMatch(new RegExp(`^00-${TRACE}-[0-9a-f]{16}-00$`))
  })

  it('tells of refusals as outcomes and of faults as errors, and of neither what was said', async () => {
    const { collector, gateway } = await tracing({ AGENT: 'echo' })
    await createThread(gateway.url)
    const query = `mutation { createThread(input: { workspaceId: "w1", threadId: "t1" }) { __typename } }`
    await post(gateway.url, { query })
    await post(gateway.url, { query: '{ MARKERfield }' })
    await postMessage(gateway.url, '/fail')
    const refused = await until(15_000, 'the refusal', () => {
      const found = collector.spans.find(
        (span) => span.attributes['artifactr.command.outcome'] === 'invalid_state',
      )
      return found ?? null
    })
    expect(refused.status.code ?? 0).toBe(0)
    const [turn] = await collector.come('turn')
    expect(turn).toMatchObject({ status: { code: 2 }, attributes: { 'error.type': 'agent_failed' } })
    expect(collector.received.join()).not.toContain('MARKER')
  })

  it('is sent before the process ends', async () => {
    const { collector, gateway } = await tracing({ OTEL_BSP_SCHEDULE_DELAY: '600000', AGENT: 'none' })
    await createThread(gateway.url, 't1', 'w1', headers)
    expect(collector.spans).toEqual([])
    expect(await gateway.kill('SIGTERM')).toEqual({ code: 0, signal: null })
    expect(collector.spans.map(({ name }) => name)).toContain('commit create_thread')
  })

  it('has the name, the sampler and the address that OpenTelemetry’s variables say', async () => {
    const collector = await openCollector()
    const gateway = await start({
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${collector.url}/v1/traces`,
      OTEL_SERVICE_NAME: 'kitchen',
      OTEL_TRACES_SAMPLER: 'parentbased_always_off',
      AGENT: 'none',
    })
    await createThread(gateway.url)
    await createThread(gateway.url, 't2', 'w1', headers)
    await only(collector, 'commit create_thread')
    expect(collector.services).toEqual(new Set(['kitchen']))
  })
})

describePostgres('a turn that another process takes over', () => {
  it('goes on with the trace of its message', async () => {
    const url = await migratedDatabase()
    const storage = await openPrismaStorage({ url })
    const workspace = new Workspaces(storage).open('dev', 'w1', { actor: { kind: 'user', id: 'ada' } })
    await workspace.commit({ type: 'create_thread', threadId: 't1' })
    // As a process leaves it that dies once the message is committed.
    await workspace.commit(
      { type: 'post_message', threadId: 't1', content: 'hello' },
      {
        traceparent,
        turns: ['t1'],
        alongside: async (within, { envelopes }) => {
          await within.advance('t1', { asked: envelopes.at(-1)?.seq ?? 0 })
          return undefined
        },
      },
    )
    await storage.close()
    const collector = await openCollector()
    const gateway = await start({ DATABASE_URL: url, OTEL_EXPORTER_OTLP_ENDPOINT: collector.url })
    await postMessage(gateway.url, 'go on')
    const turn = await until(20_000, 'the turn', () => {
      const found = collector.spans.find(({ name, traceId }) => name === 'turn' && traceId === TRACE)
      return found ?? null
    })
    expect(turn).toMatchObject({ parentSpanId: CALLER, attributes: { 'artifactr.turn.status': 'completed' } })
    await gateway.kill('SIGTERM')
  })
})

describe('a run that is stopped', () => {
  it('ends within the trace of who stops it', async () => {
    const gateway = await startGateway()
    await createThread(gateway.url)
    await postMessage(gateway.url, '/slow 60000', {
      headers: { traceparent: `00-${'c'.repeat(32)}-${CALLER}-01` },
    })
    const { body } = await post(gateway.url, {
      query: '{ workspace(workspaceId: "w1") { runs { edges { node { runId } } } } }',
    })
    const stop = 'mutation ($id: ID!) { stopRun(input: { workspaceId: "w1", runId: $id }) { __typename } }'
    await post(
      gateway.url,
      { query: stop, variables: { id: body.data.workspace.runs.edges[0].node.runId } },
      headers,
    )
    const { events } = await logOf(gateway)
    expect(events.at(-1)).toMatchObject({ event: { type: 'run_ended' }, traceparent })
    // The next turn is not of that trace.
    await postMessage(gateway.url, 'and now')
    const untraced = await until(15_000, 'the next turn', async () => {
      const { events } = await logOf(gateway)
      return events.length > 7 ? events.slice(4) : null
    })
    expect(untraced.map((event) => event.traceparent)).toEqual([null, null, null, null])
  })
})

describe('a collector that is unwell', () => {
  it.each([
    ['is not there', async () => 'http://127.0.0.1:9'],
    ['takes everything and says nothing', async () => (await openCollector('silence')).url],
  ])(
    '%s: nobody waits for it, and it is told of once at most',
    async (_, address) => {
      const gateway = await start({
        OTEL_EXPORTER_OTLP_ENDPOINT: await address(),
        OTEL_EXPORTER_OTLP_TIMEOUT: '500',
        AGENT: 'none',
      })
      await createThread(gateway.url)
      const told = () => gateway.log().filter(({ msg }) => msg.startsWith('traces could not be sent'))
      const begun = performance.now()
      for (let n = 0; n < 100; n++) await postMessage(gateway.url)
      // Half of what it takes to wait for each.
      expect(performance.now() - begun).toBeLessThan(25_000)
      await until(20_000, 'the loss to be told', () => told()[0] ?? null)
      for (let n = 0; n < 20; n++) await postMessage(gateway.url)
      const stopping = performance.now()
      expect((await gateway.kill('SIGTERM')).code).toBe(0)
      expect(performance.now() - stopping).toBeLessThan(10_000)
      expect(told()).toHaveLength(1)
      expect(gateway.errors()).toBe('')
    },
    90_000,
  )
})

describe('without a collector', () => {
  it('what the caller says of its trace is kept as it is', async () => {
    const gateway = await startGateway({ OTEL_SERVICE_NAME: 'unused' })
    await createThread(gateway.url)
    await postMessage(gateway.url, NOTE, { headers })
    const { events, runs, artifacts } = await logOf(gateway)
    const [created, ...others] = events.map((event) => event.traceparent)
    expect(created).toBeNull()
    expect(new Set(others)).toEqual(new Set([traceparent]))
    expect(runs.edges[0].node.traceIds).toEqual([TRACE])
    expect(artifacts.edges[0].node.revisions.edges[0].node.traceId).toBe(TRACE)
  })
})
