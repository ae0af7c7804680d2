/** Giving others their turn: much work that waits for nothing keeps timers, other requests and probes from theirs. */
import { setImmediate as nextTurn } from 'node:timers/promises'

/** How long the process works before others have a turn, in milliseconds. */
const LONG = 20

/** When the present turn of the event loop began to be counted, on the clock of `performance.now()`. */
let began: number | null = null

/** Goes on at once, or where this turn of the event loop has lasted long already, in a later one that has not. */
export const breathe = async (): Promise<void> => {
  while (began !== null && performance.now() - began > LONG) await nextTurn()
  if (began !== null) return
  began = performance.now()
  setImmediate(() => {
    began = null
  })
}
