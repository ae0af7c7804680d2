/** What carrying out a command or recording a fact looks like from outside: a span of its trace, and a word to whoever counts. */
import { Rejection, type RejectionCode } from '../core/rejections.js'
import { type Scope, StorageUnavailable } from '../storage/port.js'
import { startSpan } from '../tracing/span.js'
import type { Committed } from './within.js'

/**
 * What became of it: it was accepted, or was already and is a repeat; it was refused; something it depends on no longer holds; the storage was
 * out of reach; or a fault of ours.
 */
export type CommitOutcome = 'accepted' | 'repeated' | RejectionCode | 'superseded' | 'unavailable' | 'failed'

export interface CarriedOut {
  /** The type of the command or fact, such as `post_message`. */
  readonly type: string
  readonly outcome: CommitOutcome
  /** From its arrival to its answer, in seconds. */
  readonly seconds: number
}

export interface WorkspaceObserver {
  onCarriedOut(carriedOut: CarriedOut): void
}

interface Observed {
  readonly type: string
  readonly scope: Scope
  readonly traceparent: string | undefined
  readonly observer: WorkspaceObserver | undefined
  /** Whether an error is its guard's. */
  readonly isGuards: (error: unknown) => boolean
}

/** Carries it out in a trace of its own span, which is what its events belong to. */
export const observed = async (
  { type, scope, traceparent, observer, isGuards }: Observed,
  carryOut: (traceparent: string | undefined) => Promise<Committed>,
): Promise<Committed> => {
  const begun = performance.now()
  const span = startSpan(`commit ${type}`, {
    parent: traceparent,
    attributes: {
      'artifactr.command.type': type,
      'artifactr.tenant.id': scope.tenantId,
      'artifactr.workspace.id': scope.workspaceId,
    },
  })
  let outcome: CommitOutcome = 'failed'
  try {
    const committed = await carryOut(span.traceparent)
    outcome = committed.isRepeat === true ? 'repeated' : 'accepted'
    return committed
  } catch (error) {
    outcome = isGuards(error) ? 'superseded' : outcomeOf(error)
    throw error
  } finally {
    span.set({ 'artifactr.command.outcome': outcome })
    span.end(outcome === 'failed' || outcome === 'unavailable' ? outcome : undefined)
    observer?.onCarriedOut({ type, outcome, seconds: (performance.now() - begun) / 1000 })
  }
}

const outcomeOf = (error: unknown): CommitOutcome => {
  if (error instanceof Rejection) return error.code
  return error instanceof StorageUnavailable ? 'unavailable' : 'failed'
}
