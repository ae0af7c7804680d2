/** Stored events that are broken. Each is reported once, however often it is read, as far as can be remembered. */
import type { Seq } from '../core/envelopes.js'
import { type Scope, scopeKey } from './port.js'

export interface Unreadable {
  readonly scope: Scope
  readonly seq: Seq
  readonly error: unknown
}

/** How many are remembered. */
const REMEMBERED = 1_000

/** A report that passes each problem on once. */
export const reportingOnce = (report: (problem: Unreadable) => void): ((problem: Unreadable) => void) => {
  const reported = new Set<string>()
  return (problem) => {
    const key = `${problem.seq} ${scopeKey(problem.scope)}`
    if (reported.has(key)) return
    if (reported.size >= REMEMBERED) reported.clear()
    reported.add(key)
    report(problem)
  }
}
