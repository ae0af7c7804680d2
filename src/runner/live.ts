/**
 * Live output: what runs of this process produce, for whoever watches. Each run has a bounded buffer; who attaches late gets what is in it
 * first, and who is slow loses the oldest frames only. The log stays authoritative.
 */
import { type Scope, scopeKey } from '../workspace/workspace.js'
import type { LivePart } from './agent.js'

export type LiveFrame = LivePart & { readonly runId: string }

/** The most frames of one run that are kept for watchers. */
const BUFFERED = 1_000

/** What one run has produced. */
export class Output {
  readonly #frames: LiveFrame[] = []
  readonly #watchers = new Set<() => void>()
  readonly #runId: string
  /** How many frames were dropped from the start of the buffer. */
  #dropped = 0
  #ended = false

  constructor(runId: string) {
    this.#runId = runId
  }

  push(part: LivePart): void {
    this.#frames.push({ ...part, runId: this.#runId })
    if (this.#frames.length > BUFFERED) {
      this.#frames.shift()
      this.#dropped++
    }
    this.#wake()
  }

  end(): void {
    this.#ended = true
    this.#wake()
  }

  /** What there is, then the rest; ends with the run. */
  watch(): AsyncIterableIterator<LiveFrame> {
    let position = 0
    let closed = false
    let wake: (() => void) | null = null
    const onChange = () => wake?.()
    const close = async (): Promise<IteratorReturnResult<undefined>> => {
      closed = true
      this.#watchers.delete(onChange)
      wake?.()
      return { done: true, value: undefined }
    }
    this.#watchers.add(onChange)
    return {
      [Symbol.asyncIterator]() {
        return this
      },
      next: async () => {
        for (;;) {
          if (closed) return close()
          position = Math.max(position, this.#dropped)
          const frame = this.#frames[position - this.#dropped]
          if (frame !== undefined) {
            position++
            return { done: false, value: frame }
          }
          if (this.#ended) return close()
          await new Promise<void>((resolve) => {
            wake = resolve
          })
        }
      },
      return: close,
    }
  }

  #wake(): void {
    for (const watcher of this.#watchers) watcher()
  }
}

/** The outputs of the runs that are carried out in this process. */
export class Live {
  readonly #outputs = new Map<string, Output>()

  start(scope: Scope, runId: string): Output {
    const output = new Output(runId)
    this.#outputs.set(keyOf(scope, runId), output)
    return output
  }

  end(scope: Scope, runId: string): void {
    this.#outputs.get(keyOf(scope, runId))?.end()
    this.#outputs.delete(keyOf(scope, runId))
  }

  /** The output of a run, or `undefined` when it is not carried out here. */
  of(scope: Scope, runId: string): Output | undefined {
    return this.#outputs.get(keyOf(scope, runId))
  }
}

const keyOf = (scope: Scope, runId: string): string => JSON.stringify([scopeKey(scope), runId])
