/** A subscriber that takes whatever comes, and checks that it follows on what came before. */
import assert from 'node:assert/strict'
import { setTimeout as pause } from 'node:timers/promises'
import type { Envelope, Seq } from '../../core/envelopes.js'
import type { Scope, Storage, SubscribeOptions } from '../port.js'

/** How long something may take to arrive, in milliseconds. */
const PATIENCE = 15_000

export const follow = (storage: Storage, where: Scope, afterSeq: Seq, options: SubscribeOptions = {}) => {
  const abort = new AbortController()
  const envelopes: Envelope[] = []
  let reached = afterSeq
  const read = async () => {
    for await (const stretch of storage.subscribe(where, afterSeq, { ...options, signal: abort.signal })) {
      assert.ok(stretch.upTo > reached, 'a stretch begins where the one before ended')
      for (const { seq } of stretch.envelopes) assert.ok(reached < seq && seq <= stretch.upTo)
      reached = stretch.upTo
      envelopes.push(...stretch.envelopes)
    }
  }
  const ended = read()
  ended.catch(() => undefined)
  return {
    ended,
    get seqs() {
      return envelopes.map(({ seq }) => seq)
    },
    /** Waits until everything up to a position has been looked at, and gives what has come. */
    come: async (seq: Seq): Promise<readonly Envelope[]> => {
      const deadline = Date.now() + PATIENCE
      while (reached < seq) {
        assert.ok(Date.now() < deadline, `it came to ${reached} and not to ${seq}`)
        await Promise.race([pause(2), ended.then(() => assert.fail('the subscription ended'))])
      }
      return envelopes
    },
    stop: async () => {
      abort.abort()
      await ended
    },
  }
}
