/** What a patch does, in a few words, for when nobody said (domain §5, "Summaries"). */
import { isJsonObject, type JsonValue } from '../json.js'
import type { Patch } from '../patches.js'
import { excerpt } from './excerpt.js'

/** How many operations are named before the rest is only counted. */
const NAMED = 2

/** `edited text (2 replacements)`, or `replace /title; add /items/t2; and 3 more`. */
export const describePatch = (patch: Patch): string => {
  switch (patch.type) {
    case 'text_edits': {
      const count = patch.edits.length
      return `edited ${excerpt(patch.field)} (${count} ${count === 1 ? 'replacement' : 'replacements'})`
    }
    case 'json_patch': {
      const named = patch.ops.slice(0, NAMED).map(describeOperation)
      const more = patch.ops.length - named.length
      return [...named, ...(more > 0 ? [`and ${more} more`] : [])].join('; ')
    }
  }
}

/** `replace /title`, whatever form the operation has. */
export const describeOperation = (stored: JsonValue): string => {
  const { op, path } = isJsonObject(stored) ? stored : {}
  return path === '' ? `${op} everything` : excerpt(`${op} ${path}`)
}
