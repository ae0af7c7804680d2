/** Answers without what is different each time: instants, generated ids, and the names of tenants that a test made up. */

const GENERATED = /[a-z]+_[0-9a-z]{20,}/g
const INSTANT = /\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z/g
const BASE64URL = /[\w-]{12,}/g
const REQUEST_ID = /\b[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}\b/g

/** Names generated ids by the order in which they come; the same for answers that differ in nothing else. */
export class Normaliser {
  readonly #names = new Map<string, string>()
  readonly #renamed: ReadonlyMap<string, string>

  /** @param renamed What stands for names that are different each time. */
  constructor(renamed: ReadonlyMap<string, string> = new Map()) {
    this.#renamed = renamed
  }

  /** An answer as text, in which the order of keys is kept. */
  text(answer: unknown): string {
    const opened = JSON.stringify(answer).replaceAll(BASE64URL, opaque)
    const generated = opened
      .replaceAll(INSTANT, '<instant>')
      .replaceAll(REQUEST_ID, '<request>')
      .replaceAll(GENERATED, (id) => this.#nameOf(id))
    return [...this.#renamed].reduce((text, [name, shown]) => text.replaceAll(name, shown), generated)
  }

  #nameOf(id: string): string {
    const known = this.#names.get(id)
    if (known !== undefined) return known
    const name = `<${id.slice(0, id.indexOf('_'))} ${this.#names.size + 1}>`
    this.#names.set(id, name)
    return name
  }
}

/** A global id by its key, and a cursor by its position. */
const opaque = (text: string): string => {
  const decoded = Buffer.from(text, 'base64url').toString()
  if (/^\["[A-Z][a-z]+",/.test(decoded)) return decoded.replaceAll('"', "'")
  const position = /^[\w-]{8}\.(\d+)$/.exec(decoded)?.[1]
  return position === undefined ? text : `<cursor ${position}>`
}
