/** Anchored edits of one text field (domain §5): each `old` occurs exactly once when it is applied, one after the other. */
import { isJsonObject, type JsonValue } from '../json.js'
import type { TextEdits } from '../patches.js'
import { PatchFailed } from '../rejections.js'
import { excerpt } from './excerpt.js'

/** Applies each edit in turn. @throws PatchFailed when one does not apply. */
export const applyTextEdits = (data: JsonValue, { field, edits }: TextEdits): JsonValue => {
  const text = isJsonObject(data) && Object.hasOwn(data, field) ? data[field] : undefined
  if (!isJsonObject(data) || typeof text !== 'string') {
    throw new PatchFailed(`there is no text in the field "${excerpt(field)}"`)
  }
  return { ...data, [field]: edits.reduce(replaceOnce, text) }
}

const replaceOnce = (text: string, edit: TextEdits['edits'][number]): string => {
  if (edit.old === '') {
    if (text === '') return edit.new
    throw new PatchFailed('an empty anchor writes into an empty text only')
  }
  const at = text.indexOf(edit.old)
  const count = at === -1 ? 0 : occurrences(text, edit.old, at)
  if (count !== 1) throw new PatchFailed(`the anchor "${excerpt(edit.old)}" ${howOften(count)}`)
  return text.slice(0, at) + edit.new + text.slice(at + edit.old.length)
}

const howOften = (count: number): string => (count === 0 ? 'does not occur' : `occurs ${count} times`)

/** How often an anchor occurs, counting occurrences that overlap: `aa` occurs twice in `aaa`. */
const occurrences = (text: string, anchor: string, first: number): number => {
  let count = 0
  for (let at = first; at !== -1; at = text.indexOf(anchor, at + 1)) count++
  return count
}
