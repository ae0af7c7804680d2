/** What a runner tells of its turns, to whoever logs and counts them. */
import type { Scope } from '../workspace/workspace.js'

/** A turn, by its place. */
export interface TurnPlace {
  readonly scope: Scope
  readonly threadId: string
  readonly runId: string
  /** The W3C trace context of the turn. */
  readonly traceparent: string | undefined
}

/**
 * How a turn ended: as its run did; or because the run was no longer its own; or with a fault, which may have left the run as it was for the
 * next who takes the thread.
 */
type TurnStatus = 'completed' | 'paused' | 'stopped' | 'failed' | 'superseded' | 'lost'

export interface TurnEnding {
  readonly status: TurnStatus
  /** Why, where that is to be told: `timeout`, `agent_failed` or the code of a refusal; never what an agent said. */
  readonly reason?: string | undefined
}

export interface RunnerObserver {
  onTurnStarted(turn: TurnPlace): void
  /** @param seconds How long it took. */
  onTurnEnded(turn: TurnPlace, ending: TurnEnding, seconds: number): void
  /** A thread was taken over whose holder did not let it go. */
  onLeaseRecovered(): void
  /** A run was ended that its holder had left behind. */
  onRunAbandoned(run: Pick<TurnPlace, 'scope' | 'threadId' | 'runId'>): void
}
