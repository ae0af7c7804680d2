/**
 * Sends spans to a collector, over OTLP/HTTP. Loaded only where one is configured. What OpenTelemetry's own variables say of sampling, limits,
 * batches and the exporter, its SDK reads from the environment by itself.
 */
import { OTLPTraceExporter } from '@opentelemetry/exporter-trace-otlp-http'
import {
  defaultResource,
  detectResources,
  envDetector,
  resourceFromAttributes,
} from '@opentelemetry/resources'
import { BatchSpanProcessor, NodeTracerProvider, type SpanExporter } from '@opentelemetry/sdk-trace-node'

export interface TracesOptions {
  /** The name it has unless `OTEL_SERVICE_NAME` says otherwise. */
  readonly serviceName: string
  /** Told that spans could not be sent, at most once a minute: they are lost, and nothing else is. */
  readonly onLost: (error: Error | undefined) => void
}

export interface Traces {
  /** Sends what is left. Rejects when that fails. */
  stop(): Promise<void>
}

/** How long until it is told again that spans are lost, in milliseconds. */
const QUIET = 60_000

/** From now on every span of this process is sent. */
export const startTraces = ({ serviceName, onLost }: TracesOptions): Traces => {
  const resource = defaultResource()
    .merge(resourceFromAttributes({ 'service.name': serviceName }))
    .merge(detectResources({ detectors: [envDetector] }))
  const exporter = reporting(new OTLPTraceExporter(), onLost)
  const provider = new NodeTracerProvider({ resource, spanProcessors: [new BatchSpanProcessor(exporter)] })
  provider.register()
  return {
    stop: () => provider.shutdown(),
  }
}

const reporting = (exporter: SpanExporter, onLost: TracesOptions['onLost']): SpanExporter => {
  let quietUntil = 0
  return {
    export: (spans, done) =>
      exporter.export(spans, (result) => {
        if (result.code !== 0 && Date.now() >= quietUntil) {
          quietUntil = Date.now() + QUIET
          onLost(result.error)
        }
        done(result)
      }),
    shutdown: () => exporter.shutdown(),
    forceFlush: async () => exporter.forceFlush?.(),
  }
}
