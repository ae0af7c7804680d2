/** A new, empty database for the running test, by provider: its URL. */
import { onTestFinished } from 'vitest'
import { createDatabase } from './postgres.js'
import { temporaryDirectory } from './tmp.js'

export const emptyDatabases = {
  sqlite: async () => `file:${temporaryDirectory()}/made/when/missing.db`,
  postgresql: async () => {
    const { url, drop } = await createDatabase()
    onTestFinished(drop)
    return url
  },
}
