/** A collector of spans: it takes OTLP over HTTP, as JSON, and can be told to be unwell. */
import { createServer } from 'node:http'
import { onTestFinished } from 'vitest'
import { z } from 'zod'
import { until } from './gateway.js'

const valueSchema = z.object({
  stringValue: z.string().optional(),
  intValue: z.union([z.number(), z.string()]).optional(),
})

const attributesSchema = z
  .array(z.object({ key: z.string(), value: valueSchema }))
  .default([])
  .transform((all) =>
    Object.fromEntries(all.map(({ key, value }) => [key, value.stringValue ?? Number(value.intValue)])),
  )

const exportSchema = z.object({
  resourceSpans: z.array(
    z.object({
      resource: z.object({ attributes: attributesSchema }),
      scopeSpans: z.array(
        z.object({
          spans: z.array(
            z.object({
              traceId: z.string(),
              spanId: z.string(),
              parentSpanId: z.string().optional(),
              name: z.string(),
              kind: z.number(),
              attributes: attributesSchema,
              status: z.object({ code: z.number().optional() }).default({}),
            }),
          ),
        }),
      ),
    }),
  ),
})

/** The kinds of spans as OTLP numbers them. */
export const INTERNAL = 1
export const SERVER = 2

export type ReceivedSpan = z.infer<
  typeof exportSchema
>['resourceSpans'][number]['scopeSpans'][number]['spans'][number]

export interface Collector {
  /** For `OTEL_EXPORTER_OTLP_ENDPOINT`. */
  readonly url: string
  readonly spans: readonly ReceivedSpan[]
  /** Everything that came, as it came. */
  readonly received: readonly string[]
  /** The names that senders give themselves. */
  readonly services: ReadonlySet<string>
  /** Waits for the spans of a name, however many there are to be. */
  come(name: string, count?: number): Promise<readonly ReceivedSpan[]>
}

/** @param answer How it answers: takes what comes, or takes it and never says so. */
export const openCollector = async (answer: 'taken' | 'silence' = 'taken'): Promise<Collector> => {
  const spans: ReceivedSpan[] = []
  const received: string[] = []
  const services = new Set<string>()
  const server = createServer((request, response) => {
    let body = ''
    request.setEncoding('utf8').on('data', (chunk: string) => {
      body += chunk
    })
    request.on('end', () => {
      received.push(body)
      for (const { resource, scopeSpans } of exportSchema.parse(JSON.parse(body)).resourceSpans) {
        services.add(String(resource.attributes['service.name']))
        spans.push(...scopeSpans.flatMap((scope) => scope.spans))
      }
      if (answer === 'taken') response.writeHead(200, { 'content-type': 'application/json' }).end('{}')
    })
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const named = (name: string) => spans.filter((span) => span.name === name)
  return {
    url: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    spans,
    received,
    services,
    come: (name, count = 1) =>
      until(20_000, `${count} spans named ${name}`, () => {
        const found = named(name)
        return found.length >= count ? found : null
      }),
  }
}
