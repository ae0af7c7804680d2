/** Following a workspace's log from any position: what is stored, a word when that is over, and then what happens (domain §8). */
import type { Envelope, Seq } from '../core/envelopes.js'
import { resumeFrom } from '../core/resume.js'
import { windowOf } from '../core/window.js'
import type { Scope, Storage } from '../storage/port.js'

/** The replay has reached the head there was when it began. Told once. */
export interface ReplayComplete {
  readonly frame: 'replay_complete'
  readonly upToSeq: Seq
}

/** The position lies beyond the head: what the reader knows is of a log that is no more. Everything follows from the start. */
export interface LogReset {
  readonly frame: 'log_reset'
  readonly headSeq: Seq
}

export type LogFrame = Envelope | ReplayComplete | LogReset

export const isEnvelope = (frame: LogFrame): frame is Envelope => !('frame' in frame)

/** From where a reader that was given this frame goes on. */
export const positionAfter = (frame: LogFrame): Seq => {
  if (isEnvelope(frame)) return frame.seq
  return frame.frame === 'replay_complete' ? frame.upToSeq : 0
}

export interface FollowRequest {
  /** The position to go on from; only what happens from now on when it is left out. */
  readonly afterSeq?: Seq | null | undefined
  /** Only what reaches a follower of these threads. */
  readonly following?: readonly string[] | undefined
  /** Ends it without an error. */
  readonly signal?: AbortSignal | undefined
}

/**
 * Finds out where the log stands, and follows it from there. Nothing is held before the first frame is asked for.
 *
 * @throws ValidationFailed when the position is none; StorageUnavailable, also from the frames.
 */
export const follow = async (
  storage: Storage,
  scope: Scope,
  { afterSeq, following, signal }: FollowRequest,
): Promise<AsyncGenerator<LogFrame, void>> => {
  const given = windowOf({ afterSeq }).after
  const head = await storage.head(scope)
  const resume = resumeFrom(afterSeq === undefined || afterSeq === null ? head : given, head)
  return framesFrom()

  async function* framesFrom(): AsyncGenerator<LogFrame, void> {
    if (resume.reset) yield { frame: 'log_reset', headSeq: head }
    let replays = resume.afterSeq < head
    const complete = { frame: 'replay_complete', upToSeq: head } as const
    if (!replays) yield complete
    for await (const { envelopes, upTo } of storage.subscribe(scope, resume.afterSeq, {
      following,
      signal,
    })) {
      for (const envelope of envelopes) {
        if (replays && envelope.seq > head) {
          replays = false
          yield complete
        }
        yield envelope
      }
      if (replays && upTo >= head) {
        replays = false
        yield complete
      }
    }
  }
}
