/** A hold on a thread that is renewed for as long as it is needed, or until it is lost. */

export interface Lease {
  /** Aborted when it is lost: taken by another, or not known to be renewed in time. */
  readonly signal: AbortSignal
  /** Renews it now where it was not renewed lately, so that what is begun is not begun on a hold that has just lapsed. @throws StorageUnavailable */
  confirm(): Promise<void>
  stop(): void
}

/** It is renewed when it has lasted for this part of its time, and tried again ten times as often while that fails. */
const RENEWED_AFTER = 1 / 5

/**
 * @param renew Whether it is held for `ttl` milliseconds from now on.
 * @param ttl The hold was taken just now, and lasts so long.
 */
export const keepRenewing = (renew: () => Promise<boolean>, ttl: number): Lease => {
  const control = new AbortController()
  let heldFrom = Date.now()
  let asking: Promise<void> | null = null
  const ask = async (): Promise<void> => {
    const asked = Date.now()
    if (await renew()) heldFrom = asked
    else control.abort()
  }
  const renewed = (): Promise<void> => {
    asking ??= ask().finally(() => {
      asking = null
    })
    return asking
  }
  const isDue = (): boolean => Date.now() - heldFrom >= ttl * RENEWED_AFTER
  const timer = setInterval(
    () => {
      if (Date.now() - heldFrom >= ttl) control.abort()
      else if (asking === null && isDue()) void renewed().catch(() => undefined)
    },
    (ttl * RENEWED_AFTER) / 10,
  )
  return {
    signal: control.signal,
    confirm: async () => {
      if (isDue()) await renewed()
    },
    stop: () => clearInterval(timer),
  }
}
