/** What somebody else holds in the database, for a while. */
import { onTestFinished } from 'vitest'
import { openAdapter } from './sql.js'

/** Runs statements on a connection of its own and keeps it, with whatever they opened. Gives it back with `ROLLBACK`. */
export const hold = async (url: string, ...statements: readonly string[]): Promise<() => Promise<void>> => {
  const adapter = await openAdapter(url)
  const run = (sql: string) => adapter.queryRaw({ sql, args: [], argTypes: [] })
  let isHeld = true
  const release = async () => {
    if (!isHeld) return
    isHeld = false
    await run('ROLLBACK').finally(() => adapter.dispose())
  }
  onTestFinished(release)
  for (const statement of statements) await run(statement)
  return release
}
