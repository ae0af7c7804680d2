/** A hold on a thread: how it is kept, and when it is given up. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { keepRenewing } from '../../src/runner/lease.js'
import { StorageUnavailable } from '../../src/storage/port.js'

const TTL = 15_000

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

/** A lease whose renewals are counted, and fail for as long as `away`. */
const holding = () => {
  const state = { away: false, taken: false, renewals: 0 }
  const lease = keepRenewing(async () => {
    if (state.away) throw new StorageUnavailable('away')
    state.renewals++
    return !state.taken
  }, TTL)
  return { state, lease }
}

describe('a lease', () => {
  it('is renewed five times in its time', async () => {
    const { state, lease } = holding()
    await vi.advanceTimersByTimeAsync(60_100)
    expect(state.renewals).toBeGreaterThanOrEqual(18)
    expect(state.renewals).toBeLessThanOrEqual(20)
    lease.stop()
  })

  it('outlasts outages that are shorter, however close together', async () => {
    const { state, lease } = holding()
    for (let outage = 0; outage < 5; outage++) {
      state.away = true
      await vi.advanceTimersByTimeAsync(11_000)
      state.away = false
      await vi.advanceTimersByTimeAsync(500)
    }
    expect(lease.signal.aborted).toBe(false)
    lease.stop()
  })

  it('is lost once it is not known to be renewed in time, and at once when another has it', async () => {
    const one = holding()
    one.state.away = true
    await vi.advanceTimersByTimeAsync(TTL + 500)
    expect(one.lease.signal.aborted).toBe(true)
    const other = holding()
    other.state.taken = true
    await vi.advanceTimersByTimeAsync(TTL / 4)
    expect(other.lease.signal.aborted).toBe(true)
    one.lease.stop()
    other.lease.stop()
  })

  it('is renewed before something is begun on it, unless it was just now', async () => {
    const { state, lease } = holding()
    await lease.confirm()
    expect(state.renewals).toBe(0)
    state.away = true
    await vi.advanceTimersByTimeAsync(TTL / 2)
    await expect(lease.confirm()).rejects.toThrow(StorageUnavailable)
    state.away = false
    await lease.confirm()
    expect(state.renewals).toBe(1)
    lease.stop()
  })
})
