/** A line of log for each turn's beginning and end: which run, how it went and how long it took, and nothing that was said. */
import type { Log } from './http/errors.js'
import type { RunnerObserver, TurnPlace } from './runner/observer.js'
import { traceIdOf } from './tracing/span.js'

/** Logs turns, and tells another observer of them as well. */
export const logTurns = (log: Log, also: RunnerObserver | undefined): RunnerObserver => ({
  onTurnStarted: (turn) => {
    log.info(fieldsOf(turn), 'turn started')
    also?.onTurnStarted(turn)
  },
  onTurnEnded: (turn, ending, seconds) => {
    const { status, reason } = ending
    const level = status === 'failed' || status === 'lost' ? 'warn' : 'info'
    log[level]({ ...fieldsOf(turn), status, reason, durationMs: Math.round(seconds * 1000) }, 'turn ended')
    also?.onTurnEnded(turn, ending, seconds)
  },
  onLeaseRecovered: () => also?.onLeaseRecovered(),
  onRunAbandoned: (run) => {
    log.warn(fieldsOf({ traceparent: undefined, ...run }), 'a run was left behind and is ended')
    also?.onRunAbandoned(run)
  },
})

const fieldsOf = ({ scope, threadId, runId, traceparent }: TurnPlace) => ({
  tenant: scope.tenantId,
  workspace: scope.workspaceId,
  threadId,
  runId,
  traceId: traceIdOf(traceparent),
})
