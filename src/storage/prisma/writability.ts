/** Whether a database takes writes, as far as the last one told: disks run full, and primaries become standbys. */
export class Writability {
  #isKnown = false

  /** Not before the first write, and not after one that failed. */
  get isKnown(): boolean {
    return this.#isKnown
  }

  async note<Result>(write: () => Promise<Result>): Promise<Result> {
    try {
      const result = await write()
      this.#isKnown = true
      return result
    } catch (error) {
      this.#isKnown = false
      throw error
    }
  }
}
