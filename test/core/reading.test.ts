/** How the log is read: windows, resuming, and whom an event reaches (domain §8). */
import { describe, expect, it } from 'vitest'
import type { Envelope } from '../../src/core/envelopes.js'
import { reachesFollower } from '../../src/core/follow.js'
import { resumeFrom } from '../../src/core/resume.js'
import { windowOf } from '../../src/core/window.js'

describe('a window of the log', () => {
  it('is between two positions, or from the start to the end', () => {
    expect(windowOf({})).toEqual({ after: 0, before: undefined, limit: 50, from: 'start' })
    expect(windowOf({ afterSeq: null, beforeSeq: null, first: null })).toMatchObject({ after: 0, limit: 50 })
    expect(windowOf({ afterSeq: 3, beforeSeq: 9, last: 2 })).toEqual({
      after: 3,
      before: 9,
      limit: 2,
      from: 'end',
    })
  })

  it.each([
    [{ afterSeq: -1 }, 'afterSeq must not be negative'],
    [{ beforeSeq: -1 }, 'beforeSeq must not be negative'],
    [{ afterSeq: 1.5 }, 'afterSeq must be a position: a whole number'],
    [{ beforeSeq: 2 ** 53 }, 'beforeSeq must be a position: a whole number'],
    [{ afterSeq: Number.NaN }, 'afterSeq must be a position: a whole number'],
    [{ first: 1, last: 1 }, 'last cannot be used together with first'],
    [{ first: 201 }, 'first must be at most 200'],
  ])('of %j is refused, naming the argument', (request, message) => {
    expect(() => windowOf(request)).toThrow(message)
  })
})

describe('a reader resumes', () => {
  it('from where it was, the head included', () => {
    expect(resumeFrom(0, 0)).toEqual({ afterSeq: 0, reset: false })
    expect(resumeFrom(7, 9)).toEqual({ afterSeq: 7, reset: false })
    expect(resumeFrom(9, 9)).toEqual({ afterSeq: 9, reset: false })
  })

  it('from the start, and is told, when it has seen more than there is', () => {
    expect(resumeFrom(10, 9)).toEqual({ afterSeq: 0, reset: true })
    expect(resumeFrom(1, 0)).toEqual({ afterSeq: 0, reset: true })
  })
})

describe('an event reaches', () => {
  const envelope = (event: Envelope['event'], threadId?: string): Envelope => ({
    seq: 1,
    id: 'e1',
    ts: '2026-10-01T09:30:00.000Z',
    workspaceId: 'w1',
    threadId,
    actor: { kind: 'system', name: 'system' },
    event,
  })
  const created = { type: 'thread_created', threadId: 't1', title: '' } as const
  const archived = { type: 'artifact_archived', artifactId: 'a1', kind: 'note', version: 2 } as const

  it('who follows its thread', () => {
    expect(reachesFollower(envelope(created, 't1'), ['t1', 't2'])).toBe(true)
    expect(reachesFollower(envelope(created, 't1'), ['t2'])).toBe(false)
    expect(reachesFollower(envelope(created, 't1'), [])).toBe(false)
  })

  it('everyone when it concerns the workspace, whichever thread it came from', () => {
    expect(reachesFollower(envelope(archived, 't1'), ['t2'])).toBe(true)
    expect(reachesFollower(envelope({ type: 'app_event', name: 'deployed' }), [])).toBe(true)
  })
})
