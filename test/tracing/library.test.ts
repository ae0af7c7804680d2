/** An application that traces itself: the gateway's spans are a part of its traces, and what its agent does is a part of the gateway's. */
import { context, type Span, SpanKind, trace } from '@opentelemetry/api'
import {
  InMemorySpanExporter,
  NodeTracerProvider,
  type ReadableSpan,
  SimpleSpanProcessor,
} from '@opentelemetry/sdk-trace-node'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { createGateway, insecureHeaderAuth, MemoryStorage } from '../../src/index.js'
import type { Agent } from '../../src/runner/agent.js'
import { until } from '../support/gateway.js'

const exporter = new InMemorySpanExporter()
const provider = new NodeTracerProvider({ spanProcessors: [new SimpleSpanProcessor(exporter)] })
const tracer = trace.getTracer('kitchen')

beforeAll(() => provider.register())
afterAll(async () => {
  await provider.shutdown()
  trace.disable()
  context.disable()
})

const agent: Agent = {
  run: async function* () {
    await new Promise((resolve) => setImmediate(resolve))
    tracer.startSpan('ask a model').end()
    yield { type: 'reply', content: 'done' }
  },
}

const named = (name: string): ReadableSpan | undefined =>
  exporter.getFinishedSpans().find((span) => span.name === name)

it('has the gateway’s spans in its own traces, and its agent’s in the turn', async () => {
  const gateway = createGateway({ storage: new MemoryStorage(), resolveActor: insecureHeaderAuth, agent })
  onTestFinished(() => gateway.close())
  const ask = (query: string, span: Span) =>
    gateway.fetch(
      new Request('http://gateway/graphql', {
        method: 'POST',
        // What the application was asked with; its own span belongs to it.
        headers: {
          'content-type': 'application/json',
          traceparent: `00-${span.spanContext().traceId}-b7ad6b7169203331-01`,
        },
        body: JSON.stringify({ query }),
      }),
    )
  await tracer.startActiveSpan('the request of the application', async (span) => {
    await ask('mutation { createThread(input: { workspaceId: "w1", threadId: "t1" }) { __typename } }', span)
    await ask(
      'mutation { postMessage(input: { workspaceId: "w1", threadId: "t1", content: "hi" }) { __typename } }',
      span,
    )
    span.end()
  })
  const turn = await until(20_000, 'the turn to end', () => named('turn') ?? null)
  const own = named('the request of the application')?.spanContext()
  expect(named('POST /graphql')).toMatchObject({
    kind: SpanKind.SERVER,
    parentSpanContext: { traceId: own?.traceId, spanId: own?.spanId },
  })
  expect(named('ask a model')?.parentSpanContext?.spanId).toBe(turn.spanContext().spanId)
  expect(new Set(exporter.getFinishedSpans().map((span) => span.spanContext().traceId)).size).toBe(1)
})
