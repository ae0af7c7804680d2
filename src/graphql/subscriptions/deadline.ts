/** Something that is to happen at an instant, however far away it is. */

/** The longest a timer can be set for, in milliseconds. */
export const MAX_DELAY = 2 ** 31 - 1

/** Calls `then` at an instant, in epoch milliseconds, and never before this returns. Returns how to call it off. */
export const atInstant = (instant: number, then: () => void): (() => void) => {
  let timer: NodeJS.Timeout
  const wait = () => {
    const remaining = Math.max(0, instant - Date.now())
    const next = remaining > MAX_DELAY ? wait : then
    timer = setTimeout(next, Math.min(remaining, MAX_DELAY)).unref()
  }
  wait()
  return () => clearTimeout(timer)
}
