/**
 * One stream of Server-Sent Events, in the form of the GraphQL over SSE protocol ("distinct connections"), with ids to resume from. It takes
 * a result only when the reader has taken the one before, so that nothing piles up for a reader that is slow; one that takes nothing at all
 * for too long is told, and dropped.
 */
import type { ExecutionResult } from 'graphql'
import type { Seq } from '../../core/envelopes.js'
import type { Ending } from '../observer.js'
import { slowConsumer, withoutInternals } from './streams.js'

export interface EventStreamOptions {
  readonly results: AsyncIterator<ExecutionResult, unknown>
  /** The position the reader comes to with the result just taken; `undefined` when the result has none. */
  readonly takePosition: () => Seq | undefined
  readonly pingEvery: number
  readonly stallTimeout: number
  readonly onBegin: () => void
  readonly onSent: (result: ExecutionResult) => void
  /** Told once, when nothing is held for the stream any more but what was already written. */
  readonly onEnd: (ending: Ending) => void
  readonly onError: (error: unknown) => void
}

/** How much is written at once, in bytes: a reader that takes so much is reading. */
const PIECE = 16_384

const COMMENT = Buffer.from(':\n\n')
const COMPLETE = Buffer.from('event: complete\ndata:\n\n')

const frameOf = (result: ExecutionResult, position: Seq | undefined): Buffer => {
  const id = position === undefined ? '' : `id: ${position}\n`
  return Buffer.from(`event: next\n${id}data: ${JSON.stringify(withoutInternals(result))}\n\n`)
}

type Controller = ReadableStreamDefaultController<Uint8Array>

/** The source of a `ReadableStream`. */
export class EventStream {
  readonly #options: EventStreamOptions
  /** For what is written when the reader did not ask for more. */
  #controller: Controller | null = null
  /** What was taken and not yet written. */
  #pieces: Uint8Array[] = []
  /** Whether it waits for a result, and so has nothing unwritten. */
  #isWaiting = false
  /** Whether no result is taken any more. */
  #isOver = false
  #isClosed = false
  #ping: NodeJS.Timeout | undefined
  #stall: NodeJS.Timeout | undefined

  constructor(options: EventStreamOptions) {
    this.#options = options
  }

  start(controller: Controller): void {
    this.#controller = controller
    this.#options.onBegin()
    // Some do not believe in a response before its first byte.
    controller.enqueue(COMMENT)
    this.#ping = setInterval(() => {
      if (this.#isWaiting) controller.enqueue(COMMENT)
    }, this.#options.pingEvery).unref()
  }

  async pull(controller: Controller): Promise<void> {
    clearTimeout(this.#stall)
    if (this.#pieces.length === 0 && !this.#isOver) await this.#take()
    if (this.#isClosed) return
    const piece = this.#pieces.shift()
    if (piece !== undefined) controller.enqueue(piece)
    if (this.#isOver && this.#pieces.length === 0) return this.#close('completed', controller)
    this.#stall = setTimeout(() => this.#giveUp(), this.#options.stallTimeout).unref()
  }

  async cancel(): Promise<void> {
    this.#end('dropped')
  }

  /** Ends the stream as soon as what was taken is written. */
  complete(): void {
    if (this.#isOver) return
    if (!this.#isWaiting) this.#finish()
    this.#abandon()
  }

  async #take(): Promise<void> {
    const { results, takePosition, onSent, onError } = this.#options
    this.#isWaiting = true
    try {
      const { done, value } = await results.next()
      if (done === true) return this.#finish()
      onSent(value)
      this.#pieces = piecesOf(frameOf(value, takePosition()))
    } catch (error) {
      onError(error)
      this.#finish()
    } finally {
      this.#isWaiting = false
    }
  }

  #finish(): void {
    if (this.#isOver) return
    this.#isOver = true
    this.#pieces.push(COMPLETE)
  }

  /** Nothing was taken for too long. What is half written is written, so that the reader finds out why, should it read on. */
  #giveUp(): void {
    this.#isOver = true
    this.#abandon()
    const rest = [...this.#pieces, frameOf({ errors: [slowConsumer()] }, undefined), COMPLETE]
    this.#pieces = []
    this.#controller?.enqueue(Buffer.concat(rest))
    this.#close('slow', this.#controller)
  }

  #close(ending: Ending, controller: Controller | null): void {
    if (this.#isClosed) return
    this.#end(ending)
    controller?.close()
  }

  #end(ending: Ending): void {
    if (this.#isClosed) return
    this.#isClosed = true
    clearInterval(this.#ping)
    clearTimeout(this.#stall)
    this.#abandon()
    this.#options.onEnd(ending)
  }

  #abandon(): void {
    this.#options.results.return?.().catch(this.#options.onError)
  }
}

const piecesOf = (frame: Buffer): Uint8Array[] => {
  const pieces: Uint8Array[] = []
  for (let start = 0; start < frame.length; start += PIECE) pieces.push(frame.subarray(start, start + PIECE))
  return pieces
}
