/** Applying either kind of patch, and saying what one does (domain §5). */
import { type JsonValue, jsonEqual } from '../json.js'
import type { Patch } from '../patches.js'
import { PatchFailed } from '../rejections.js'
import { applyJsonPatch } from './json-patch.js'
import { applyTextEdits } from './text-edits.js'

export const changesNothing = (): PatchFailed => new PatchFailed('the patch changes nothing')

/** The data after a patch; `data` itself is not touched. @throws PatchFailed when the patch does not apply, or changes nothing. */
export const applyPatch = (data: JsonValue, patch: Patch): JsonValue => {
  const changed = applied(data, patch)
  if (jsonEqual(data, changed)) throw changesNothing()
  return changed
}

const applied = (data: JsonValue, patch: Patch): JsonValue => {
  switch (patch.type) {
    case 'json_patch':
      return applyJsonPatch(data, patch.ops)
    case 'text_edits':
      return applyTextEdits(data, patch)
  }
}
