/** Pieces of data quoted in messages for people. */

const MAX_LENGTH = 60

/** At most 60 UTF-16 units of a text, never half a surrogate pair. */
export const excerpt = (text: string): string =>
  text.length <= MAX_LENGTH ? text : `${text.slice(0, MAX_LENGTH).replace(/[\ud800-\udbff]$/, '')}…`
