/**
 * Who carries out a thread's turns. The invariants (domain §11):
 *
 * I7 One turn of a thread at a time, whichever process carries it out: only who holds its lease does. Each claim has a holder of its own.
 * I8 A thread is not let go with more asked than taken, unless somebody will look again.
 */
import { randomUUID } from 'node:crypto'
import { setTimeout as pause } from 'node:timers/promises'
import type { Seq } from '../core/envelopes.js'
import { type Span, startSpan } from '../tracing/span.js'
import { StorageUnavailable, type Workspace } from '../workspace/workspace.js'
import type { Agent } from './agent.js'
import { keepRenewing } from './lease.js'
import type { Live } from './live.js'
import type { RunnerObserver, TurnEnding, TurnPlace } from './observer.js'
import { type Taken, takeNext } from './take.js'
import { CutShort, TurnInProgress } from './turn.js'

export interface ThreadOptions {
  readonly agent: Agent
  readonly agentName: string
  readonly live: Live
  readonly maxMessageLength: number
  readonly stepTimeout: number
  /** How long a hold on a thread lasts without renewal, in milliseconds. */
  readonly leaseTtl: number
  /** How often a turn looks whether its run was ended elsewhere, in milliseconds. */
  readonly watchEvery: number
  /** Told of what went wrong besides what agents do wrong. */
  readonly onError: (error: unknown) => void
  readonly observer: RunnerObserver | undefined
}

/** What became of a message that was sent: the run it started or resumed, or `null`. */
type Told = (runId: string | null) => void

export class ThreadTurns {
  readonly #workspace: Workspace
  readonly #threadId: string
  readonly #options: ThreadOptions
  readonly #onIdle: () => void
  /** Who waits to be told what became of a message, and its place in the log. A repeat waits as the first does. */
  #waiting: { readonly seq: Seq; readonly told: Told }[] = []
  #control: AbortController | null = null
  #runId: string | null = null
  /** Whether no other turn is begun, and whether the one under way ends as well. */
  #isRetired = false
  #isClosed = false
  #claim: Promise<void> | null = null
  /** Whether somebody asked after the last look. */
  #again = false
  /** Whether its last holder did not let it go. */
  #isLeftBehind = false

  constructor(workspace: Workspace, threadId: string, options: ThreadOptions, onIdle: () => void) {
    this.#workspace = workspace
    this.#threadId = threadId
    this.#options = options
    this.#onIdle = onIdle
  }

  /** Sees to it that somebody looks for turns that are owed, or that a holder who died left behind. */
  look(isLeftBehind = false): void {
    if (isLeftBehind) this.#isLeftBehind = true
    this.#again = true
    this.#claim ??= this.#work()
  }

  /** As `look`, and answers which run the message at `seq` started or resumed; `null` when it steers one, or waits. */
  async begin(seq: Seq): Promise<string | null> {
    if (this.#control !== null) {
      this.look()
      return null
    }
    return new Promise((resolve) => {
      this.#waiting.push({ seq, told: resolve })
      this.look()
    })
  }

  /** Cuts the turn of a run short, if it is the one under way. */
  stop(runId: string): void {
    if (this.#runId === runId) this.#control?.abort(new CutShort('stopped'))
  }

  /** Begins no other turn; what is owed is left to others. */
  retire(): void {
    this.#isRetired = true
  }

  /** As `retire`, and ends the turn under way. */
  async close(): Promise<void> {
    this.retire()
    this.#isClosed = true
    this.#control?.abort(new CutShort('shutdown'))
    await this.#claim
  }

  /** Ends when nothing is under way. */
  async idle(): Promise<void> {
    while (this.#claim !== null) await this.#claim
  }

  async #work(): Promise<void> {
    try {
      while (this.#again && !this.#isRetired) {
        this.#again = false
        await this.#hold()
      }
    } catch (error) {
      this.#options.onError(error)
    } finally {
      this.#claim = null
      this.#tell(null)
      this.#onIdle()
    }
  }

  /**
   * Carries out all that is owed, if nobody else holds the thread; who does will look again when they let go (I8). After an error nobody
   * knows what was begun. So the thread is kept and looked at again, and if that cannot be done it is not let go but left to lapse: then
   * whoever looks for what was left behind finds it (I4).
   */
  async #hold(): Promise<void> {
    const holder = randomUUID()
    const { turns, scope } = this.#workspace
    const { leaseTtl, observer, onError } = this.#options
    const isLeftBehind = this.#isLeftBehind
    this.#isLeftBehind = false
    if (!(await turns.hold(this.#threadId, holder, leaseTtl))) return
    if (isLeftBehind) observer?.onLeaseRecovered()
    const lease = keepRenewing(() => turns.hold(this.#threadId, holder, leaseTtl), leaseTtl)
    try {
      for (let failures = 0; ; ) {
        if (lease.signal.aborted || (this.#isRetired && failures > 0)) return
        if (this.#isRetired) break
        try {
          await lease.confirm()
          if (lease.signal.aborted) return
          const taken = await takeNext(this.#workspace, this.#threadId, this.#options.agentName, (runId) =>
            observer?.onRunAbandoned({ scope, threadId: this.#threadId, runId }),
          )
          if (taken === null) break
          await this.#carryOut(taken, lease.signal)
          failures = 0
        } catch (error) {
          onError(error)
          this.#tell(null)
          await backOff(failures++, lease.signal)
        }
      }
    } finally {
      lease.stop()
    }
    await turns.release(this.#threadId, holder)
    if (await this.#isOwed()) this.#again = true
  }

  async #carryOut(taken: Taken, lost: AbortSignal): Promise<void> {
    const { live, watchEvery, onError } = this.#options
    const { scope } = this.#workspace
    const control = new AbortController()
    const onLost = () => control.abort(new CutShort('superseded'))
    lost.addEventListener('abort', onLost)
    this.#control = control
    this.#runId = taken.runId
    this.#tell(taken)
    const output = live.start(scope, taken.runId)
    let isWatching = false
    const watch = setInterval(async () => {
      // One look at a time, however long the storage takes.
      if (isWatching) return
      isWatching = true
      await this.#watch(taken.runId, control).catch((error: unknown) => {
        if (!(error instanceof StorageUnavailable)) onError(error)
      })
      isWatching = false
    }, watchEvery)
    try {
      if (this.#isClosed) control.abort(new CutShort('shutdown'))
      const { agent, agentName, stepTimeout, maxMessageLength } = this.#options
      await this.#observed(taken, (span) =>
        new TurnInProgress({
          workspace: this.#workspace.traced(span.traceparent),
          threadId: this.#threadId,
          agent,
          agentName,
          taken,
          output,
          stepTimeout,
          maxMessageLength,
          control,
          during: span.during,
        }).carryOut(),
      )
    } finally {
      clearInterval(watch)
      lost.removeEventListener('abort', onLost)
      live.end(scope, taken.runId)
      this.#control = null
      this.#runId = null
    }
  }

  /** A turn goes on with the trace of its message. */
  async #observed(
    { runId, traceparent }: Taken,
    carryOut: (span: Span) => Promise<TurnEnding>,
  ): Promise<void> {
    const begun = performance.now()
    const { observer } = this.#options
    const { scope } = this.#workspace
    const threadId = this.#threadId
    const attributes = {
      'artifactr.tenant.id': scope.tenantId,
      'artifactr.workspace.id': scope.workspaceId,
      'artifactr.thread.id': threadId,
      'artifactr.run.id': runId,
    }
    const span = startSpan('turn', { parent: traceparent, attributes })
    const turn: TurnPlace = { scope, threadId, runId, traceparent: span.traceparent }
    observer?.onTurnStarted(turn)
    let ending: TurnEnding = { status: 'lost' }
    try {
      ending = await carryOut(span)
    } finally {
      const { status, reason } = ending
      span.set({ 'artifactr.turn.status': status })
      span.end(status === 'failed' || status === 'lost' ? (reason ?? status) : undefined)
      observer?.onTurnEnded(turn, ending, (performance.now() - begun) / 1000)
    }
  }

  /** Notices a run that was stopped, or taken for abandoned, by another process. */
  async #watch(runId: string, control: AbortController): Promise<void> {
    const { runs } = await this.#workspace.load({ runs: [runId] })
    if (runs.get(runId)?.status !== 'running') control.abort(new CutShort('superseded'))
  }

  async #isOwed(): Promise<boolean> {
    const { asked, taken } = await this.#workspace.transact((within) => within.turnPositions(this.#threadId))
    return asked > taken
  }

  #tell(taken: Taken | null): void {
    const waiting = this.#waiting
    this.#waiting = []
    for (const { seq, told } of waiting) told(taken?.seq === seq ? taken.runId : null)
  }
}

/** The first and the longest wait after a failure, in milliseconds. */
const FIRST_BACKOFF = 100
const LONGEST_BACKOFF = 2_000

const backOff = (failures: number, signal: AbortSignal): Promise<void> =>
  pause(Math.min(LONGEST_BACKOFF, FIRST_BACKOFF * 2 ** failures), undefined, { signal }).catch(
    () => undefined,
  )
