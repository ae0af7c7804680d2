/**
 * The runner: sends messages, and sees to it that each that asks for a turn gets one, whatever dies (domain §11). A message is committed
 * before anything else happens: if it is refused, nothing does (ADR-0045).
 */
import { setTimeout as pause } from 'node:timers/promises'
import { onlyFeedbackFromEvaluators } from '../core/commit.js'
import type { Run } from '../core/entities.js'
import type { Envelope } from '../core/envelopes.js'
import { InvalidState, invalid, NotFound } from '../core/rejections.js'
import { idProblem } from '../core/text.js'
import { canResume, messageAsks } from '../core/turns.js'
import {
  type CommandRequest,
  type CommitOptions,
  type Committed,
  scopeKey,
  type Workspace,
} from '../workspace/workspace.js'
import type { Workspaces } from '../workspace/workspaces.js'
import type { Agent } from './agent.js'
import { Live, type LiveFrame } from './live.js'
import type { RunnerObserver } from './observer.js'
import { isTaken, runnerActor, runOfMessage } from './take.js'
import { type ThreadOptions, ThreadTurns } from './thread.js'

export interface RunnerOptions {
  readonly workspaces: Workspaces
  /** Who takes the turns; `null`: nobody does, and no message asks for one. */
  readonly agent: Agent | null
  /** How long an agent may take from one step to the next, in milliseconds; five minutes when left out. */
  readonly stepTimeout?: number | undefined
  /** How long a hold on a thread outlives its process, in milliseconds; 15 seconds when left out. */
  readonly leaseTtl?: number | undefined
  /** How often a turn looks whether its run was stopped by another process, in milliseconds; a second when left out. */
  readonly watchEvery?: number | undefined
  /** About how often it is looked for turns that a process which died left behind, in milliseconds; five seconds when left out. */
  readonly recoverEvery?: number | undefined
  readonly onError?: ((error: unknown) => void) | undefined
  readonly observer?: RunnerObserver | undefined
}

/** A message sent: its commit, and the run it started or resumed; `null` when it steers one, waits for its turn, or asks for none. */
export interface Sent extends Committed {
  readonly runId: string | null
}

export interface Answered extends Committed {
  /** Whether the run has all it asked for, and goes on. */
  readonly resumed: boolean
}

/** What became of a command: of a message its run, of an answer whether its run goes on. */
export interface Handled extends Committed {
  readonly runId?: string | null
  readonly resumed?: boolean
}

/** What `watch` finds: the run's output, a run that another process carries out, or one that is over. */
export type Watched =
  | { readonly where: 'here'; readonly frames: AsyncIterableIterator<LiveFrame> }
  | { readonly where: 'elsewhere' | 'over' }

type PostMessage = Extract<CommandRequest, { type: 'post_message' }>
type AnswerDeferred = Extract<CommandRequest, { type: 'answer_deferred' }>

/** How many threads are looked at in one recovery. */
const RECOVERED = 100

/** How often, in milliseconds, and how many times it is looked whether another process has taken a message. */
const LOOK_EVERY = 50
const LOOKS = 20

export class Runner {
  readonly #workspaces: Workspaces
  /** `null` when there is no agent. */
  readonly #options: ThreadOptions | null
  readonly #onError: (error: unknown) => void
  readonly #live = new Live()
  readonly #threads = new Map<string, ThreadTurns>()
  readonly #recovery: NodeJS.Timeout
  #closed = false

  constructor({
    workspaces,
    agent,
    stepTimeout = 300_000,
    leaseTtl = 15_000,
    watchEvery = 1_000,
    recoverEvery = 5_000,
    onError = () => undefined,
    observer,
  }: RunnerOptions) {
    this.#workspaces = workspaces
    const { maxMessageLength } = workspaces.definitions
    const live = this.#live
    const limits = { maxMessageLength, stepTimeout, leaseTtl, watchEvery, observer }
    this.#onError = onError
    this.#options = agent && { agent, agentName: agent.name ?? 'assistant', live, onError, ...limits }
    // Each process looks at times of its own, so that they do not all find the same threads at once.
    this.#recovery = setInterval(() => void this.recover(), recoverEvery * (0.5 + Math.random())).unref()
  }

  /**
   * Carries out any command, so that it means the same by whichever transport it came.
   *
   * @throws Rejection; StorageUnavailable
   */
  async handle(workspace: Workspace, command: CommandRequest, options: CommitOptions = {}): Promise<Handled> {
    switch (command.type) {
      case 'post_message':
        return this.send(workspace, command, options)
      case 'answer_deferred':
        return this.answer(workspace, command, options)
      case 'create_thread':
      case 'set_focus':
      case 'set_thread_mode':
      case 'create_artifact':
      case 'edit_artifact':
      case 'archive_artifact':
      case 'propose_change':
      case 'respond_to_proposal':
      case 'give_feedback':
        return workspace.commit(command, options)
    }
  }

  /**
   * Posts a message. That it asks for a turn is written with it, and outlives this process.
   *
   * @throws Rejection when it is refused: then no run starts, and none is steered.
   */
  async send(workspace: Workspace, message: PostMessage, options: CommitOptions = {}): Promise<Sent> {
    const { threadId, kind = 'message' } = message
    const asks = this.#options !== null && messageAsks(threadId, kind, workspace.actor)
    const committed = await workspace.commit(message, {
      ...options,
      turns: [threadId],
      alongside: async (within, { envelopes }) => {
        const seq = envelopes.at(-1)?.seq
        if (asks && seq !== undefined) await within.advance(threadId, { asked: seq })
        return undefined
      },
    })
    const posted = committed.envelopes.at(-1)
    const thread = asks ? this.#thread(workspace, threadId) : null
    if (posted === undefined || !thread) return { ...committed, runId: null }
    const begun = await thread.begin(posted.seq)
    const isUnknown = begun === null && committed.isRepeat === true
    return { ...committed, runId: isUnknown ? await this.#runBegunWith(workspace, threadId, posted) : begun }
  }

  /** The run of a message that was sent before, perhaps by another process that is only about to begin it. */
  async #runBegunWith(workspace: Workspace, threadId: string, posted: Envelope): Promise<string | null> {
    for (let looks = 0; looks < LOOKS && !(await isTaken(workspace, threadId, posted.seq)); looks++) {
      await pause(LOOK_EVERY)
    }
    return runOfMessage(workspace, threadId, posted)
  }

  /** Answers what a paused run asked for; the last answer makes it go on. @throws Rejection */
  async answer(workspace: Workspace, answer: AnswerDeferred, options: CommitOptions = {}): Promise<Answered> {
    const { runId } = answer
    const committed = await workspace.commit(answer, {
      ...options,
      alongside: async (within, { envelopes }) => {
        const { runs } = await within.load({ runs: [runId] })
        const run = runs.get(runId)
        const seq = envelopes.at(-1)?.seq
        if (!run || seq === undefined || !canResume(run)) return false
        await within.advance(run.threadId, { asked: seq })
        return true
      },
    })
    const resumed = committed.note === true
    if (resumed) this.#thread(workspace, (await existingRun(workspace, runId)).threadId)?.look()
    return { ...committed, resumed }
  }

  /**
   * Makes a paused run go on that was answered without the runner. Whether it has all it asked for, and goes on.
   *
   * @throws NotFound
   */
  async resume(workspace: Workspace, runId: string): Promise<boolean> {
    const run = await existingRun(workspace, runId)
    const answers = { threadId: run.threadId, types: ['deferred_answered'] } as const
    const { entries } = await workspace.events(answers, { limit: 1, from: 'end' })
    const [last] = entries
    if (!canResume(run) || last === undefined) return false
    await workspace.transact((within) => within.advance(run.threadId, { asked: last.seq }))
    this.#thread(workspace, run.threadId)?.look()
    return true
  }

  /** Ends a run, whichever process carries it out. A run that is over stays as it is. @throws NotFound, Forbidden, ValidationFailed */
  async stop(workspace: Workspace, runId: string): Promise<Run> {
    onlyFeedbackFromEvaluators('stop_run', workspace.actor)
    const problem = idProblem(runId)
    if (problem !== null) throw invalid(['runId'], problem)
    const { threadId } = await existingRun(workspace, runId)
    const fact = { type: 'run_ended', runId, status: 'stopped', reason: 'stopped' } as const
    await workspace
      .asActor(runnerActor)
      .record(fact)
      .catch((error) => {
        if (!(error instanceof InvalidState)) throw error
      })
    this.#threads.get(keyOf(workspace, threadId))?.stop(runId)
    return existingRun(workspace, runId)
  }

  /** @throws NotFound */
  async watch(workspace: Workspace, runId: string): Promise<Watched> {
    const { status } = await existingRun(workspace, runId)
    const output = this.#live.of(workspace.scope, runId)
    if (output !== undefined) return { where: 'here', frames: output.watch() }
    return { where: status === 'running' ? 'elsewhere' : 'over' }
  }

  /** Looks for turns that are owed and that nobody carries out, and carries them out. */
  async recover(): Promise<void> {
    try {
      for (const { scope, threadId, isLeftBehind } of await this.#workspaces.forsakenThreads(RECOVERED)) {
        if (this.#closed) return
        const { tenantId, workspaceId } = scope
        const workspace = this.#workspaces.open(tenantId, workspaceId, { actor: runnerActor })
        this.#thread(workspace, threadId)?.look(isLeftBehind)
      }
    } catch (error) {
      this.#onError(error)
    }
  }

  /** Ends when no turn is under way in this process. */
  async drain(): Promise<void> {
    await Promise.all([...this.#threads.values()].map((thread) => thread.idle()))
  }

  /** Begins no other turns: what is owed is left to other processes, or to the next start. Those under way go on. */
  retire(): void {
    this.#closed = true
    clearInterval(this.#recovery)
    for (const thread of this.#threads.values()) thread.retire()
  }

  /** As `retire`, and ends the turns under way. */
  async close(): Promise<void> {
    this.retire()
    await Promise.all([...this.#threads.values()].map((thread) => thread.close()))
  }

  /** `null` when there is no agent, and once the runner is closed: others will find what is owed. */
  #thread(workspace: Workspace, threadId: string): ThreadTurns | null {
    if (this.#closed || this.#options === null) return null
    const key = keyOf(workspace, threadId)
    const onIdle = () => this.#threads.delete(key)
    // Each turn belongs to the trace of what asked for it, whoever makes the thread be looked at.
    const own = workspace.asActor(runnerActor).traced(undefined)
    const thread = this.#threads.get(key) ?? new ThreadTurns(own, threadId, this.#options, onIdle)
    this.#threads.set(key, thread)
    return thread
  }
}

const keyOf = ({ scope }: Workspace, threadId: string): string => JSON.stringify([scopeKey(scope), threadId])

/** @throws NotFound */
const existingRun = async (workspace: Workspace, id: string): Promise<Run> => {
  const { runs } = await workspace.load({ runs: [id] })
  const run = runs.get(id)
  if (!run) throw new NotFound('run', id)
  return run
}
