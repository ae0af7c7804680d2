/** What a WebSocket is sent, and whether it is taken: a socket that takes nothing for too long is slow. */
import type { WebSocket } from 'ws'
import type { Patience } from './streams.js'

/** How much may be unsent before the socket is not listened to either, in bytes: who asks and does not read is not to ask for more. */
const MAX_UNSENT = 1_048_576

export class Outlet {
  readonly #socket: WebSocket
  readonly #patience: Patience
  readonly #onSlow: () => void
  /** What waits to be taken: each is told when it is, or when it is not waited for any more. */
  readonly #unsent = new Set<() => void>()
  /** Told once nothing is unsent, or at the latest when the socket would have been given up. */
  readonly #afterwards = new Map<() => void, NodeJS.Timeout>()
  #isSlow = false
  #timer: NodeJS.Timeout | undefined

  /** @param onSlow Told when nothing was taken for too long, as often as that happens. */
  constructor(socket: WebSocket, patience: Patience, onSlow: () => void) {
    this.#socket = socket
    this.#patience = patience
    this.#onSlow = onSlow
    socket.once('close', () => this.#clear())
  }

  get isSlow(): boolean {
    return this.#isSlow
  }

  /** Resolves when the message was taken; at once where that is not to be waited for. */
  send(message: string): Promise<void> {
    if (this.#socket.readyState !== this.#socket.OPEN) return Promise.resolve()
    return new Promise((resolve) => {
      this.#unsent.add(resolve)
      this.#socket.send(message, () => {
        this.#unsent.delete(resolve)
        resolve()
        this.#taken()
      })
      if (this.#isSlow) resolve()
      else if (this.#unsent.size === 1) this.#wait(this.#patience.stallTimeout, () => this.#slow())
      if (this.#socket.bufferedAmount > MAX_UNSENT && !this.#socket.isPaused) this.#socket.pause()
    })
  }

  /** Tells once what is sent next was taken, or is not waited for any more: also where nothing is sent. */
  afterwards(then: () => void): void {
    if (this.#socket.readyState === this.#socket.CLOSED) {
      then()
      return
    }
    const { stallTimeout, lingering } = this.#patience
    this.#afterwards.set(then, setTimeout(() => this.#tell(then), stallTimeout + lingering).unref())
  }

  #tell(then: () => void): void {
    clearTimeout(this.#afterwards.get(then))
    this.#afterwards.delete(then)
    then()
  }

  #taken(): void {
    if (this.#unsent.size > 0) {
      if (!this.#isSlow) this.#wait(this.#patience.stallTimeout, () => this.#slow())
      return
    }
    this.#isSlow = false
    clearTimeout(this.#timer)
    for (const then of [...this.#afterwards.keys()]) this.#tell(then)
    if (this.#socket.isPaused) this.#socket.resume()
  }

  #slow(): void {
    this.#isSlow = true
    this.#wait(this.#patience.lingering, () => this.#socket.terminate())
    this.#onSlow()
    for (const resolve of this.#unsent) resolve()
  }

  #wait(delay: number, then: () => void): void {
    clearTimeout(this.#timer)
    this.#timer = setTimeout(then, delay).unref()
  }

  #clear(): void {
    clearTimeout(this.#timer)
    for (const resolve of this.#unsent) resolve()
    this.#unsent.clear()
    for (const then of [...this.#afterwards.keys()]) this.#tell(then)
  }
}
