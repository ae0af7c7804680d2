/**
 * Which names of operations become labels. Clients choose them, so there are a bounded number of them, and none that may be an id: a name
 * that holds a digit or one of the texts of its own request is none to count by.
 */

/** How many names are told apart. */
const MAX_NAMES = 100

const NAME = /^[A-Za-z_]{1,64}$/

/** Shorter texts are in every other word. */
const TELLING = 3

export class OperationNames {
  readonly #admitted = new Set<string>()

  /** @param mentions The texts of the request it came with. */
  labelOf(name: string | undefined, mentions: () => Iterable<string>): string {
    if (name === undefined) return 'anonymous'
    if (this.#admitted.has(name)) return name
    if (this.#admitted.size >= MAX_NAMES || !NAME.test(name) || isMentioned(name, mentions())) return 'other'
    this.#admitted.add(name)
    return name
  }
}

const isMentioned = (name: string, texts: Iterable<string>): boolean => {
  for (const text of texts) {
    if (text === name || (text.length >= TELLING && name.includes(text))) return true
  }
  return false
}
