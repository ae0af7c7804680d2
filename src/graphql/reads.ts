/**
 * What a request reads of the storage. A page of a list holds so many bytes and no more, few reads are under way at a time, and each tells
 * how much it brought, so that whoever counts can end what reads too much before it has read it all.
 */
import pLimit, { type LimitFunction } from 'p-limit'
import { breathe, type Page, type Window, type Workspace } from '../workspace/workspace.js'
import { bytesOf } from './bytes.js'

/** How many bytes a page holds before it ends: 64 messages of 64 KiB. */
export const PAGE_BYTES = 4 * 1024 * 1024

/** What a value takes in memory besides its text: many small ones take more than they say. */
const BYTES_PER_VALUE = 40

/** The most reads that are under way at a time, of a request and of all together: what they bring is not counted before it is there. */
const OF_REQUEST = 4
const OF_ALL = pLimit(16)

/** Told of each read. What it throws ends the read. */
export interface ReadsObserver {
  /** It is about to begin. */
  readonly onRead: () => void
  /** It brought so many bytes. */
  readonly onBrought: (bytes: number) => void
}

export class Reads {
  readonly #limit: LimitFunction = pLimit(OF_REQUEST)
  readonly #observer: ReadsObserver

  constructor(observer: ReadsObserver) {
    this.#observer = observer
  }

  carryOut<Result>(read: () => Promise<Result>): Promise<Result> {
    const carryOut = async () => {
      await breathe()
      this.#observer.onRead()
      const result = await read()
      this.#observer.onBrought(bytesOf(result, BYTES_PER_VALUE))
      return result
    }
    return this.#limit(() => OF_ALL(carryOut))
  }
}

const ofRequests = new WeakMap<Workspace, Reads>()

/** From now on what is read of a workspace counts as read by a request. */
export const readBy = (workspace: Workspace, reads: Reads): Workspace => {
  ofRequests.set(workspace, reads)
  return workspace
}

/** Reads of a workspace, as one of the reads of the request it was opened for. */
export const read = <Result>(workspace: Workspace, work: () => Promise<Result>): Promise<Result> =>
  ofRequests.get(workspace)?.carryOut(work) ?? work()

/** As `read`, a page of a list, which ends early where it is large. */
export const readPage = <Entry>(
  workspace: Workspace,
  list: (window: Window) => Promise<Page<Entry>>,
  window: Window,
): Promise<Page<Entry>> => read(workspace, () => list({ ...window, bytes: PAGE_BYTES }))
