/** Which requests are under way, so that it can be waited for their end. */

export class UnderWay {
  readonly #requests = new Set<Request>()
  readonly #waiting = new Set<() => void>()

  /** Until it is ended, or its client has gone. */
  begin(request: Request): void {
    this.#requests.add(request)
    request.signal.addEventListener('abort', () => this.end(request), { once: true })
  }

  /** It is answered. Of a stream that is its beginning. */
  end(request: Request): void {
    if (!this.#requests.delete(request) || this.#requests.size > 0) return
    for (const resolve of this.#waiting) resolve()
    this.#waiting.clear()
  }

  /** Resolves when there is none. */
  async over(): Promise<void> {
    while (this.#requests.size > 0) await new Promise<void>((resolve) => this.#waiting.add(resolve))
  }
}
