/**
 * A stream that somebody is allowed to read for now: it is asked again and again whether they still are, and it ends when their credentials
 * do. It can be ended while it waits, and it holds nothing before it is first asked for something.
 */
import { mayUse } from '../access.js'
import type { GraphQLContext } from '../context.js'
import { graphqlError } from '../errors.js'
import { atInstant } from './deadline.js'

/** How often it is asked again whether the caller may use the workspace when nothing else is said, in milliseconds. */
const RECHECK_EVERY = 30_000

/** Whoever was asked has not answered by the time of the next question. */
const UNANSWERED = 'It cannot be found out now whether the caller may still use the workspace.'

/**
 * Opens a stream for the caller, who was found to be allowed to read it.
 *
 * @param open Begins the stream, which ends when the signal says so.
 * @throws What `open` throws. From the stream: GraphQLError `FORBIDDEN` or `TOKEN_EXPIRED`, and whatever it throws itself.
 */
export const watched = async <Frame>(
  context: GraphQLContext,
  workspaceId: string,
  open: (signal: AbortSignal) => Promise<AsyncIterator<Frame, unknown>>,
): Promise<AsyncIterableIterator<Frame>> => {
  const abort = new AbortController()
  return new Watched(await open(abort.signal), abort, context, workspaceId)
}

interface Waiting<Frame> {
  readonly resolve: (result: IteratorResult<Frame>) => void
  readonly reject: (error: unknown) => void
}

class Watched<Frame> implements AsyncIterableIterator<Frame> {
  readonly #frames: AsyncIterator<Frame, unknown>
  readonly #abort: AbortController
  readonly #context: GraphQLContext
  readonly #workspaceId: string
  #waiting: Waiting<Frame> | null = null
  #begun = false
  #ended = false
  /** What it ended with, until somebody is told. */
  #failure: { readonly error: unknown } | null = null
  #recheck: NodeJS.Timeout | undefined
  #asking = false
  #cancelExpiry: (() => void) | undefined

  constructor(
    frames: AsyncIterator<Frame, unknown>,
    abort: AbortController,
    context: GraphQLContext,
    workspaceId: string,
  ) {
    this.#frames = frames
    this.#abort = abort
    this.#context = context
    this.#workspaceId = workspaceId
  }

  [Symbol.asyncIterator](): this {
    return this
  }

  next(): Promise<IteratorResult<Frame>> {
    if (!this.#begun) this.#begin()
    const failure = this.#failure
    this.#failure = null
    if (failure !== null) return Promise.reject(failure.error)
    if (this.#ended) return Promise.resolve(over)
    return new Promise((resolve, reject) => {
      this.#waiting = { resolve, reject }
      this.#frames.next().then(
        ({ done, value }) => {
          if (done === true) this.#end(null)
          else this.#deliver(value)
        },
        (error: unknown) => this.#end({ error }),
      )
    })
  }

  async return(): Promise<IteratorResult<Frame>> {
    this.#end(null)
    return over
  }

  #begin(): void {
    this.#begun = true
    if (this.#ended) return
    const { streaming, expiresAt } = this.#context
    const every = streaming?.recheckEvery ?? RECHECK_EVERY
    // Streams that began together are not to ask together for ever.
    this.#recheck = setInterval(() => void this.#ask(), every * (0.8 + Math.random() / 5)).unref()
    if (expiresAt === undefined) return
    if (expiresAt <= Date.now()) this.#expire()
    else this.#cancelExpiry = atInstant(expiresAt, () => this.#expire())
  }

  async #ask(): Promise<void> {
    if (this.#asking)
      return this.#end({ error: graphqlError('SERVICE_UNAVAILABLE', UNANSWERED, { retryable: true }) })
    this.#asking = true
    const workspaceId = this.#workspaceId
    try {
      if (await mayUse(this.#context, workspaceId)) return
      const message = `workspace ${workspaceId} may no longer be used by this caller`
      this.#end({ error: graphqlError('FORBIDDEN', message) })
    } catch (error) {
      // Whether they are still allowed is not known, so they are not.
      this.#end({ error })
    } finally {
      this.#asking = false
    }
  }

  #expire(): void {
    const message = 'The credentials have expired. Come back with new ones.'
    this.#end({ error: graphqlError('TOKEN_EXPIRED', message, { retryable: true }) })
  }

  /** Ends the stream, and whoever waits for it. Nothing of it is delivered after that. */
  #end(failure: { readonly error: unknown } | null): void {
    if (this.#ended) return
    this.#ended = true
    clearInterval(this.#recheck)
    this.#cancelExpiry?.()
    this.#abort.abort()
    // A generator that waits ends by the signal; one that was never asked for anything, or gave its last, ends by this.
    void this.#frames.return?.().catch(() => undefined)
    const waiting = this.#settle()
    if (failure === null) waiting?.resolve(over)
    else if (waiting === null) this.#failure = failure
    else waiting.reject(failure.error)
  }

  #deliver(value: Frame): void {
    const waiting = this.#settle()
    if (waiting === null) return
    this.#context.streaming?.onFrame?.()
    waiting.resolve({ done: false, value })
  }

  #settle(): Waiting<Frame> | null {
    const waiting = this.#waiting
    this.#waiting = null
    return waiting
  }
}

const over = { done: true, value: undefined } as const
