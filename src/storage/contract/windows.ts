/** Windows over lists, and what they show. */
import type { Page, Window } from '../port.js'
import { upTo } from './subject.js'

/** Windows over ten entries at positions 1 to 10, what they show, and whether there is more between their positions. */
export const windows: readonly [Window, number[], more: boolean][] = [
  [{ limit: 50, from: 'start' }, upTo(10), false],
  [{ limit: 50, from: 'end' }, upTo(10), false],
  [{ limit: 10, from: 'start' }, upTo(10), false],
  [{ limit: 3, from: 'start' }, [1, 2, 3], true],
  [{ limit: 3, from: 'end' }, [8, 9, 10], true],
  [{ after: 4, limit: 3, from: 'start' }, [5, 6, 7], true],
  [{ before: 4, limit: 2, from: 'end' }, [2, 3], true],
  [{ after: 2, before: 6, limit: 50, from: 'start' }, [3, 4, 5], false],
  [{ after: 2, before: 6, limit: 3, from: 'end' }, [3, 4, 5], false],
  [{ after: 2, before: 6, limit: 2, from: 'end' }, [4, 5], true],
  [{ after: 10, limit: 5, from: 'start' }, [], false],
  [{ before: 1, limit: 5, from: 'end' }, [], false],
  [{ after: 5, before: 6, limit: 5, from: 'start' }, [], false],
  [{ after: 0, before: Number.MAX_SAFE_INTEGER, limit: 1, from: 'end' }, [10], true],
  [{ after: Number.MAX_SAFE_INTEGER, limit: 1, from: 'start' }, [], false],
  [{ limit: 0, from: 'start' }, [], true],
]

/** The same over three small entries, and then five that have between 10,000 and 11,000 bytes each. */
export const boundedWindows: readonly [Window, number[], more: boolean][] = [
  [{ bytes: 1, limit: 50, from: 'start' }, [1], true],
  [{ bytes: 10_000, limit: 50, from: 'start' }, [1, 2, 3, 4], true],
  [{ bytes: 15_000, limit: 50, from: 'start' }, [1, 2, 3, 4, 5], true],
  [{ bytes: 15_000, limit: 2, from: 'start' }, [1, 2], true],
  [{ bytes: 1_000_000, limit: 50, from: 'start' }, upTo(8), false],
  [{ after: 4, bytes: 1, limit: 50, from: 'start' }, [5], true],
  [{ after: 7, bytes: 1, limit: 50, from: 'start' }, [8], false],
  [{ after: 8, bytes: 1, limit: 50, from: 'start' }, [], false],
  [{ bytes: 1, limit: 50, from: 'end' }, [8], true],
  [{ bytes: 15_000, limit: 50, from: 'end' }, [7, 8], true],
  [{ bytes: 1_000_000, limit: 50, from: 'end' }, upTo(8), false],
  [{ before: 5, bytes: 10_000, limit: 50, from: 'end' }, [4], true],
  [{ before: 4, bytes: 10_000, limit: 50, from: 'end' }, [1, 2, 3], false],
]

/** The positions on a page, and whether there is more. */
export const positions = ({ entries, more }: Page<{ readonly position: number }>) => ({
  shown: entries.map(({ position }) => position),
  more,
})
