/** Giving others their turn: much work that waits for nothing keeps timers, other requests and probes from theirs. */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long the process works before others have a turn, in milliseconds. */
const LONG = 20

/** When the present turn of the event loop began to be counted, on the clock of `performance.now()`. */
let began: number | null = null

/** The next turn, for all who wait for it: what they commit shares a round, as it would have without. */
let next: Promise<void> | null = null

/** Goes on at once, or where this turn of the event loop has lasted long already, in a later one that has not. */
export const breathe = async (): Promise<void> => {
  while (began !== null && performance.now() - began > LONG) {
    next ??= nextTurn().then(() => {
      next = null
    })
    await next
  }
  if (began !== null) return
  began = performance.now()
  setImmediate(() => {
    began = null
  })
}
