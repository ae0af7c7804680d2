/** Where an anchor is in a text. It takes time in proportion to the two together, whatever they hold, which `String.indexOf` alone does not. */

export interface Occurrences {
  /** How often the anchor occurs, counting occurrences that overlap: `aa` occurs twice in `aaa`. */
  readonly count: number
  /** Where it occurs first, in UTF-16 units from the start; -1 when it does not. */
  readonly first: number
}

/** How much of an anchor is left to `indexOf`, in UTF-16 units: up to here V8 takes a few steps for each unit of the text. */
const SHORT = 64

/** Finds and counts an anchor of at least one UTF-16 unit. */
export const occurrences = (text: string, anchor: string): Occurrences => {
  const start = anchor.slice(0, SHORT)
  const first = text.indexOf(start)
  if (first !== -1 && text.indexOf(start, first + 1) !== -1) return counted(unitsOf(text), unitsOf(anchor))
  return first !== -1 && text.startsWith(anchor, first) ? { count: 1, first } : { count: 0, first: -1 }
}

const unitsOf = (text: string): Uint16Array => {
  const units = new Uint16Array(text.length)
  for (let at = 0; at < units.length; at++) units[at] = text.charCodeAt(at)
  return units
}

/** Knuth, Morris and Pratt's way: after a mismatch it goes on with the longest start of the anchor that the text still ends in, and never goes back. */
const counted = (text: Uint16Array, anchor: Uint16Array): Occurrences => {
  const borders = bordersOf(anchor)
  let [count, first, matched] = [0, -1, 0]
  for (let at = 0; at < text.length; at++) {
    while (matched > 0 && anchor[matched] !== text[at]) matched = borders[matched - 1] ?? 0
    if (anchor[matched] === text[at]) matched++
    if (matched < anchor.length) continue
    if (count++ === 0) first = at + 1 - anchor.length
    matched = borders[matched - 1] ?? 0
  }
  return { count, first }
}

/** For each start of the anchor, how long the longest shorter start is that it ends in. */
const bordersOf = (anchor: Uint16Array): Uint32Array => {
  const borders = new Uint32Array(anchor.length)
  let matched = 0
  for (let at = 1; at < anchor.length; at++) {
    while (matched > 0 && anchor[matched] !== anchor[at]) matched = borders[matched - 1] ?? 0
    if (anchor[matched] === anchor[at]) matched++
    borders[at] = matched
  }
  return borders
}
