/** Lets one piece of work through at a time, in the order of arrival. */
export class Turnstile {
  #last: Promise<unknown> = Promise.resolve()

  pass<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = this.#last.then(work)
    this.#last = mine.catch(() => undefined)
    return mine
  }
}
