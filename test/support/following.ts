/** Following a log of a storage, and what comes of it. */
import { expect, onTestFinished } from 'vitest'
import type { Envelope, Seq } from '../../src/core/envelopes.js'
import type { Scope, Storage, SubscribeOptions } from '../../src/storage/port.js'
import { until } from './gateway.js'

export const scope: Scope = { tenantId: 'acme', workspaceId: 'w1' }

export interface Reader {
  readonly seqs: readonly Seq[]
  readonly envelopes: readonly Envelope[]
  /** When each came, on the clock of `performance.now()`. */
  readonly times: readonly number[]
  /** Waits until it has come to a position, for a bounded time in milliseconds. */
  comeTo(seq: Seq, timeout?: number): Promise<void>
  /** Rejects when it ends with an error. */
  readonly ended: Promise<void>
  stop(): Promise<void>
}

/** Reads along until it is stopped, and checks that what comes has no gap and no repeat. */
export const follow = (
  storage: Storage,
  afterSeq: Seq = 0,
  { where = scope, ...options }: SubscribeOptions & { readonly where?: Scope } = {},
): Reader => {
  const abort = new AbortController()
  const envelopes: Envelope[] = []
  const times: number[] = []
  const read = async (): Promise<void> => {
    let last = afterSeq
    for await (const stretch of storage.subscribe(where, afterSeq, { ...options, signal: abort.signal })) {
      for (const envelope of stretch.envelopes) {
        if (options.following === undefined) expect(envelope.seq).toBe(last + 1)
        last = envelope.seq
        envelopes.push(envelope)
        times.push(performance.now())
      }
    }
  }
  const ended = read()
  ended.catch(() => undefined)
  const reader: Reader = {
    envelopes,
    times,
    get seqs() {
      return envelopes.map(({ seq }) => seq)
    },
    comeTo: async (seq, timeout = 15_000) => {
      await until(timeout, `the event ${seq}`, () => (envelopes.at(-1)?.seq ?? 0) >= seq || null)
    },
    ended,
    stop: () => {
      abort.abort()
      return ended
    },
  }
  onTestFinished(() => reader.stop().catch(() => undefined))
  return reader
}
