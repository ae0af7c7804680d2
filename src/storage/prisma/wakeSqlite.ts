/**
 * How a process notices that others have written to its SQLite file: nobody tells, but asking whether anything was written since the last
 * time costs next to nothing.
 */
import { isDeepStrictEqual } from 'node:util'
import type { WakeUps, Woken } from './dialect.js'

export interface SqliteWakeUpsOptions {
  /** Something that is another whenever another connection has written. */
  readonly version: () => Promise<unknown>
  readonly woken: Woken
}

/** How often it is asked while anybody follows a log, in milliseconds. */
const INTERVAL = 50

/** How often followers look for themselves, in milliseconds. */
const POLL_INTERVAL = 3_000

export const openSqliteWakeUps = ({ version, woken }: SqliteWakeUpsOptions): WakeUps => {
  let timer: NodeJS.Timeout | undefined
  let asking: Promise<void> | null = null
  let known: unknown
  const ask = async (): Promise<void> => {
    const found = await version().catch(() => null)
    if (isDeepStrictEqual(found, known)) return
    known = found
    woken.all()
  }
  const askOnce = (): void => {
    asking ??= ask().finally(() => {
      asking = null
    })
  }
  const rest = () => {
    clearInterval(timer)
    timer = undefined
  }
  return {
    pollInterval: POLL_INTERVAL,
    listen: () => {
      timer ??= setInterval(askOnce, INTERVAL).unref()
    },
    rest,
    notify: () => undefined,
    close: async () => {
      rest()
      await asking
    },
  }
}
