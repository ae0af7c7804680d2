/**
 * One turn, from its begun run to its end: what the agent yields is recorded, or shown live, until it is done, pauses, fails, or is
 * stopped. The invariants (domain §11):
 *
 * I5 Nothing is recorded for a run that is no longer running: not by its agent, and not by a holder that lost the thread.
 * I6 However an agent behaves, its run ends or pauses, and the thread goes on.
 */
import { setTimeout as pause } from 'node:timers/promises'
import { InvalidState, Rejection } from '../core/rejections.js'
import { newId } from '../workspace/ids.js'
import { breathe, StorageUnavailable, type Within, type Workspace } from '../workspace/workspace.js'
import type { Agent, Step, Turn, Usage } from './agent.js'
import type { Output } from './live.js'
import type { TurnEnding } from './observer.js'
import { agentActor, type Taken, takeSteering } from './take.js'

/** Why a turn is cut short. */
export type Cut = 'stopped' | 'superseded' | 'shutdown' | 'timeout'

export class CutShort extends Error {
  override readonly name = 'CutShort'
  readonly cut: Cut
  constructor(cut: Cut) {
    super(`the turn was cut short: ${cut}`)
    this.cut = cut
  }
}

export interface TurnOptions {
  readonly workspace: Workspace
  readonly threadId: string
  readonly agent: Agent
  readonly agentName: string
  readonly taken: Taken
  readonly output: Output
  /** How long the agent may take from one step to the next, in milliseconds. */
  readonly stepTimeout: number
  readonly maxMessageLength: number
  /** Aborted with a `CutShort` as its reason. */
  readonly control: AbortController
  /** Does work as a part of the turn's trace. */
  readonly during: <Result>(work: () => Result) => Result
}

export class TurnInProgress {
  readonly #options: TurnOptions
  readonly #workspace: Workspace
  #usage: Usage | undefined
  #history: Uint8Array | undefined

  constructor(options: TurnOptions) {
    this.#options = options
    const { workspace, threadId, taken, agentName } = options
    this.#workspace = workspace
      .asActor(agentActor(threadId, taken.runId, agentName))
      .guarded((within) => this.#stillRunning(within))
  }

  /** Ends when the run has ended or paused, or is no longer this turn's. */
  async carryOut(): Promise<TurnEnding> {
    const { agent, control, during } = this.#options
    let steps: AsyncIterator<Step> | undefined
    try {
      const turn = await this.#turn()
      const begun = during(() => agent.run(turn)[Symbol.asyncIterator]())
      steps = begun
      for (;;) {
        await breathe()
        const { done, value } = await this.#inTime(during(() => begun.next()))
        if (done === true) return await this.#end({ status: 'completed' })
        if ((await this.#take(value)) === 'paused') return { status: 'paused' }
      }
    } catch (error) {
      return await this.#endAfter(control.signal.aborted ? control.signal.reason : error)
    } finally {
      control.abort(new CutShort('superseded'))
      void steps?.return?.()?.catch(() => undefined)
    }
  }

  async #turn(): Promise<Turn> {
    const { threadId, taken, control } = this.#options
    const workspace = this.#workspace
    return {
      workspace,
      threadId,
      runId: taken.runId,
      prompt: taken.prompt,
      answers: taken.answers,
      history: await workspace.turns.history(threadId),
      changeNotes: async () => workspace.changeNotes(await this.#lastLook()),
      steering: () => this.#steering(),
      signal: control.signal,
    }
  }

  /** The message itself is taken in the transaction that finds the run still running. */
  async #steering(): Promise<readonly string[]> {
    const messages: string[] = []
    for (;;) {
      const message = await takeSteering(this.#workspace, this.#options.threadId)
      if (message === null) return messages
      messages.push(message)
    }
  }

  /** Where the thread's agent last ended or paused: what came after is new to it. */
  async #lastLook(): Promise<number> {
    const { threadId, taken } = this.#options
    const filter = { threadId, types: ['run_ended', 'run_paused'] } as const
    const { entries } = await this.#workspace.events(filter, { before: taken.seq, limit: 1, from: 'end' })
    return entries[0]?.seq ?? 0
  }

  async #take(step: Step): Promise<'paused' | undefined> {
    const { runId } = this.#options.taken
    switch (step.type) {
      case 'part_started':
      case 'text_delta':
      case 'reasoning_delta':
      case 'tool_args_delta':
      case 'part_ended':
      case 'artifact_draft':
      case 'app_live':
        this.#options.output.push(step)
        return
      case 'tool_called':
      case 'tool_returned':
        await this.#workspace.record({ ...step, runId })
        return
      case 'reply':
        return this.#reply(step.content)
      case 'usage':
        this.#usage = step.usage
        return
      case 'history':
        this.#history = step.history
        return
      case 'pause':
        await this.#recordWithHistory({ type: 'run_paused', runId, requests: [...step.requests] })
        return 'paused'
    }
  }

  /** What an agent says is mended where it is no text, and cut into messages where it is too long for one. */
  async #reply(content: string): Promise<undefined> {
    const { threadId, maxMessageLength } = this.#options
    const text = content.toWellFormed().replaceAll('\u0000', '\ufffd')
    for (const content of split(text, maxMessageLength)) {
      const message = { type: 'post_message', threadId, messageId: newId('msg'), content } as const
      await this.#persistently((tries) =>
        this.#workspace.commit(message).catch((error: unknown) => {
          const isPosted = error instanceof InvalidState && error.reason === 'already_exists'
          if (tries === 0 || !isPosted) throw error
        }),
      )
    }
    return undefined
  }

  async #end(how: {
    status: 'completed' | 'stopped' | 'failed'
    error?: string
    reason?: string
  }): Promise<TurnEnding> {
    const { runId } = this.#options.taken
    await this.#recordWithHistory({ type: 'run_ended', runId, usage: this.#usage, ...how })
    return { status: how.status, reason: how.reason }
  }

  async #endAfter(error: unknown): Promise<TurnEnding> {
    const cut = error instanceof CutShort ? error.cut : null
    if (cut === 'superseded') return { status: cut }
    if (cut === 'stopped' || cut === 'shutdown')
      return ignoringSuperseded(this.#end({ status: 'stopped', reason: cut }))
    const message = (error instanceof Error ? error.message : String(error))
      .toWellFormed()
      .replaceAll('\u0000', '\ufffd')
    const reason = cut ?? reasonOf(error)
    return ignoringSuperseded(this.#end({ status: 'failed', error: message, reason }))
  }

  #recordWithHistory(fact: Parameters<Workspace['record']>[0]): Promise<void> {
    const { threadId } = this.#options
    const history = this.#history
    const alongside = async (within: Within): Promise<undefined> => {
      if (history !== undefined) await within.keepHistory(threadId, history)
    }
    return this.#persistently(() => this.#workspace.record(fact, { alongside }))
  }

  /** Writes for as long as the run is this turn's, so that a database which is away for a moment costs no run. */
  async #persistently(write: (tries: number) => Promise<unknown>): Promise<void> {
    const { signal } = this.#options.control
    for (let tries = 0; ; tries++) {
      try {
        await write(tries)
        return
      } catch (error) {
        if (!(error instanceof StorageUnavailable) || signal.aborted) throw error
      }
      await pause(WRITE_AGAIN, undefined, { signal }).catch(() => undefined)
    }
  }

  /** The guard of everything this turn writes (I5). */
  async #stillRunning(within: Within): Promise<void> {
    const { runId } = this.#options.taken
    const { runs } = await within.load({ runs: [runId] })
    if (runs.get(runId)?.status !== 'running') throw new CutShort('superseded')
  }

  /** Waits for a step, but not for longer than allowed, and not once the turn is cut short. */
  #inTime<Result>(step: Promise<Result>): Promise<Result> {
    const { stepTimeout, control } = this.#options
    const { signal } = control
    return new Promise((resolve, reject) => {
      const settle = (how: () => void) => () => {
        clearTimeout(timer)
        signal.removeEventListener('abort', onAbort)
        how()
      }
      const onAbort = () => settle(() => reject(signal.reason))()
      const timer = setTimeout(() => control.abort(new CutShort('timeout')), stepTimeout)
      signal.addEventListener('abort', onAbort)
      if (signal.aborted) onAbort()
      step.then(
        (result) => settle(() => resolve(result))(),
        (error) => settle(() => reject(error))(),
      )
    })
  }
}

const reasonOf = (error: unknown): string => {
  if (error instanceof Rejection) return error.code
  return error instanceof StorageUnavailable ? 'storage_unavailable' : 'agent_failed'
}

/** How soon a write is tried again that the storage was out of reach for, in milliseconds. */
const WRITE_AGAIN = 200

const ignoringSuperseded = async (recording: Promise<TurnEnding>): Promise<TurnEnding> => {
  try {
    return await recording
  } catch (error) {
    if (error instanceof CutShort || error instanceof InvalidState) return { status: 'superseded' }
    throw error
  }
}

/** Parts of at most `length` UTF-16 units, none of which ends within a character. */
const split = (text: string, length: number): string[] => {
  const parts: string[] = []
  for (let rest = text; rest !== ''; ) {
    const end = rest.length > length && /[\ud800-\udbff]/.test(rest.charAt(length - 1)) ? length - 1 : length
    parts.push(rest.slice(0, end))
    rest = rest.slice(end)
  }
  return parts
}
