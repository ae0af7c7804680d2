/** Making pages, and asking for them: the same for every storage. */
import type { Page, Window } from './port.js'

/** What is stored of an entry, as text. */
interface Stored {
  readonly body: string
}

/**
 * As many entries as a window holds. They come in its direction, from between its positions; none is looked at beyond the first that there
 * is no room for.
 */
export const pageOf = <Entry extends Stored>(
  found: Iterable<Entry>,
  { limit, from, bytes = Number.POSITIVE_INFINITY }: Window,
): Page<Entry> => {
  const entries: Entry[] = []
  let taken = 0
  let more = false
  for (const entry of found) {
    more = entries.length >= limit || (entries.length > 0 && taken >= bytes)
    if (more) break
    entries.push(entry)
    taken += Buffer.byteLength(entry.body)
  }
  return { entries: from === 'start' ? entries : entries.reverse(), more }
}

export const mapPage = <From, To>({ entries, more }: Page<From>, to: (entry: From) => To): Page<To> => ({
  entries: entries.map(to),
  more,
})

/** A place in a list and nothing beside it: its neighbours may be large. */
export const onlyAt = (position: number): Window => ({
  after: position - 1,
  before: position + 1,
  limit: 1,
  from: 'start',
})
