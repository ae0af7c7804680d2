/** Where a reader of the log goes on (domain §8, "Resuming"). */
import type { Seq } from './envelopes.js'

export interface Resume {
  /** The position whose followers are to be read. */
  readonly afterSeq: Seq
  /** Whether the reader knows a log this one is not: it is told, discards what it holds, and replays from the start. */
  readonly reset: boolean
}

/** A position beyond the head was seen in a log that is no more: the server's data was reset. */
export const resumeFrom = (afterSeq: Seq, headSeq: Seq): Resume =>
  afterSeq > headSeq ? { afterSeq: 0, reset: true } : { afterSeq, reset: false }
