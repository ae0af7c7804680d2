/** Anchored edits of one text field (domain §5): each `old` occurs exactly once when it is applied, one after the other. */
import { isJsonObject, type JsonValue } from '../json.js'
import type { TextEdits } from '../patches.js'
import { PatchFailed } from '../rejections.js'
import { excerpt } from './excerpt.js'
import { occurrences } from './occurrences.js'

/**
 * How much text the edits of one patch may look through, in UTF-16 units: each looks through the text and its anchor. Twenty edits of a megabyte
 * are within it.
 */
const MAX_SEARCHED = 25_000_000

/** Applies each edit in turn. @throws PatchFailed when one does not apply, or when together they look through too much. */
export const applyTextEdits = (data: JsonValue, { field, edits }: TextEdits): JsonValue => {
  const stored = isJsonObject(data) && Object.hasOwn(data, field) ? data[field] : undefined
  if (!isJsonObject(data) || typeof stored !== 'string') {
    throw new PatchFailed(`there is no text in the field "${excerpt(field)}"`)
  }
  let [text, searched] = [stored, 0]
  for (const edit of edits) {
    searched += text.length + edit.old.length
    if (searched > MAX_SEARCHED) throw new PatchFailed('the edits look through too much text')
    text = replaceOnce(text, edit)
  }
  return { ...data, [field]: text }
}

const replaceOnce = (text: string, edit: TextEdits['edits'][number]): string => {
  if (edit.old === '') {
    if (text === '') return edit.new
    throw new PatchFailed('an empty anchor writes into an empty text only')
  }
  const { count, first } = occurrences(text, edit.old)
  if (count !== 1) throw new PatchFailed(`the anchor "${excerpt(edit.old)}" ${howOften(count)}`)
  return text.slice(0, first) + edit.new + text.slice(first + edit.old.length)
}

const howOften = (count: number): string => (count === 0 ? 'does not occur' : `occurs ${count} times`)
