/**
 * Spans of OpenTelemetry whose parents are passed on by hand, as `traceparent` (W3C trace context), since a turn goes on with the trace of a
 * message that may have been posted long ago and elsewhere. Without an SDK nothing is recorded, and what the caller said is passed on.
 */
import {
  type Attributes,
  context,
  isSpanContextValid,
  type Span as OtelSpan,
  ROOT_CONTEXT,
  type SpanContext,
  SpanKind,
  SpanStatusCode,
  TraceFlags,
  trace,
} from '@opentelemetry/api'

export interface SpanOptions {
  /** Whether it answers somebody outside this process. */
  readonly isServer?: boolean
  /** The W3C trace context it belongs to. */
  readonly parent: string | undefined
  /** Whether a span of the application that is under way is its parent instead: it belongs to that context itself. */
  readonly prefersActive?: boolean
  readonly attributes: Attributes
}

export interface Span {
  /** The trace context for what belongs to it; `undefined` where there is no trace. */
  readonly traceparent: string | undefined
  set(attributes: Attributes): void
  /** Does work whose own spans, such as those of an instrumented driver, are to belong to it. */
  during<Result>(work: () => Result): Result
  /** @param error What kind of fault it ended with; not what a caller did wrong. */
  end(error?: string): void
}

const TRACER = 'artifactr-gateway'

export const startSpan = (
  name: string,
  { isServer = false, parent, prefersActive = false, attributes }: SpanOptions,
): Span => {
  const within = contextOf(prefersActive && trace.getActiveSpan() !== undefined ? undefined : parent)
  const kind = isServer ? SpanKind.SERVER : SpanKind.INTERNAL
  const span = trace.getTracer(TRACER).startSpan(name, { kind, attributes }, within)
  return {
    traceparent: traceparentOf(span, parent),
    set: (more) => void span.setAttributes(more),
    during: (work) => context.with(trace.setSpan(context.active(), span), work),
    end: (error) => {
      if (error !== undefined) {
        span.setAttribute('error.type', error)
        span.setStatus({ code: SpanStatusCode.ERROR })
      }
      span.end()
    },
  }
}

export const traceIdOf = (traceparent: string | undefined): string | undefined => traceparent?.split('-')[1]

/** Without a parent of ours, that of an application which traces its requests itself. */
const contextOf = (parent: string | undefined) => {
  if (parent === undefined) return context.active()
  return trace.setSpanContext(ROOT_CONTEXT, spanContextOf(parent))
}

const spanContextOf = (traceparent: string): SpanContext => {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  const traceFlags = Number.parseInt(flags, 16) & TraceFlags.SAMPLED
  return { traceId, spanId, traceFlags, isRemote: true }
}

const traceparentOf = (span: OtelSpan, parent: string | undefined): string | undefined => {
  const own = span.spanContext()
  if (!isSpanContextValid(own)) return parent
  const { traceId, spanId, traceFlags } = own
  // Nobody records: a span without an SDK is its parent.
  if (parent?.split('-')[2] === spanId) return parent
  return `00-${traceId}-${spanId}-${(traceFlags & TraceFlags.SAMPLED).toString(16).padStart(2, '0')}`
}
