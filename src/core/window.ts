/** How much of a list is read at once, and from which end (domain §8). The same for the log and for every other list. */
import type { Seq } from './envelopes.js'
import { invalid } from './rejections.js'

export const DEFAULT_PAGE = 50
export const MAX_PAGE = 200

export interface PageRequest {
  /** This many from the start. */
  readonly first?: number | null | undefined
  /** This many from the end. */
  readonly last?: number | null | undefined
}

export interface Extent {
  readonly limit: number
  readonly from: 'start' | 'end'
}

/**
 * The extent a page request asks for; the first 50 when it asks for none.
 *
 * @throws ValidationFailed naming `first` or `last`.
 */
export const extentOf = ({ first, last }: PageRequest): Extent => {
  const fromStart = size('first', first)
  const fromEnd = size('last', last)
  if (fromEnd === null) return { limit: fromStart ?? DEFAULT_PAGE, from: 'start' }
  if (fromStart !== null) throw invalid(['last'], 'cannot be used together with first')
  return { limit: fromEnd, from: 'end' }
}

const size = (argument: keyof PageRequest, value: number | null | undefined): number | null => {
  if (value === null || value === undefined) return null
  if (!Number.isInteger(value)) throw invalid([argument], 'must be a whole number')
  if (value < 0) throw invalid([argument], 'must not be negative')
  if (value > MAX_PAGE) throw invalid([argument], `must be at most ${MAX_PAGE}`)
  return value
}

export interface LogRequest extends PageRequest {
  /** Only events after this position. */
  readonly afterSeq?: Seq | null | undefined
  /** Only events before this position. */
  readonly beforeSeq?: Seq | null | undefined
}

export interface LogWindow extends Extent {
  readonly after: Seq
  readonly before?: Seq | undefined
}

/**
 * The part of the log a request asks for: `afterSeq < seq < beforeSeq`, and its extent.
 *
 * @throws ValidationFailed naming the argument.
 */
export const windowOf = ({ afterSeq, beforeSeq, ...page }: LogRequest): LogWindow => ({
  after: position('afterSeq', afterSeq) ?? 0,
  before: position('beforeSeq', beforeSeq),
  ...extentOf(page),
})

const position = (argument: keyof LogRequest, value: Seq | null | undefined): Seq | undefined => {
  if (value === null || value === undefined) return undefined
  if (!Number.isSafeInteger(value)) throw invalid([argument], 'must be a position: a whole number')
  if (value < 0) throw invalid([argument], 'must not be negative')
  return value
}
