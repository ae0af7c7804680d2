/** The documents that were parsed and found valid before, so that it is done once. */
import type { DocumentNode } from 'graphql'
import { _createLRUCache } from 'graphql-yoga'

/** Documents are remembered up to this length, in UTF-16 units; longer ones hold data and do not come again. */
export const MAX_CACHED_LENGTH = 8192

const shortOnly = <Value extends object>() => {
  const cache = _createLRUCache<Value>({ max: 512 })
  return {
    get: (document: string) => cache.get(document),
    set: (document: string, value: Value) => {
      if (document.length <= MAX_CACHED_LENGTH) cache.set(document, value)
    },
  }
}

export const documentCaches = () => ({
  documentCache: shortOnly<DocumentNode>(),
  errorCache: shortOnly<object>(),
})
