/** Change notes (domain §9), one JSON case each: a viewer, a focus, a slice of the log, and the notes expected. */
import { readFileSync } from 'node:fs'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { actorSchema } from '../../src/core/actors.js'
import type { Envelope } from '../../src/core/envelopes.js'
import { changeNotes } from '../../src/core/notes.js'
import { deepFreeze, plain } from './host.js'

const cases = z
  .array(
    z.strictObject({
      name: z.string(),
      viewer: actorSchema,
      focus: z.array(z.string()).optional(),
      log: z.array(
        z.strictObject({
          seq: z.int(),
          actor: actorSchema,
          threadId: z.string().optional(),
          event: z.custom<Envelope['event']>(),
        }),
      ),
      expected: z.array(z.unknown()),
    }),
  )
  .parse(JSON.parse(readFileSync(new URL('./cases/notes.json', import.meta.url), 'utf8')))

it.each(cases)('$name', ({ viewer, focus, log, expected }) => {
  const envelopes = log.map(
    (entry): Envelope => ({
      ...entry,
      id: `e${entry.seq}`,
      ts: '2026-10-01T09:30:00.000Z',
      workspaceId: 'w1',
    }),
  )
  expect(plain(changeNotes(deepFreeze(envelopes), { viewer, focus }))).toEqual(expected)
})

/** Changes of artifacts in turn, one version after the other. */
const changes = (count: number, artifacts: number): Envelope[] =>
  Array.from({ length: count }, (_, index) => ({
    seq: index + 1,
    id: `e${index + 1}`,
    ts: '2026-10-01T09:30:00.000Z',
    workspaceId: 'w1',
    actor: { kind: 'user', id: 'ada' },
    event: {
      type: 'artifact_changed',
      artifactId: `a${index % artifacts}`,
      kind: 'note',
      version: 2 + Math.floor(index / artifacts),
      patch: { type: 'json_patch', ops: [] },
      summary: 'x',
    },
  }))

const viewer = { kind: 'user', id: 'bob' } as const

// Both take minutes where each change is looked for in the focus, or copied with those before it.
it('a long focus and a long log are gone through once', () => {
  const focus = Array.from({ length: 200_000 }, (_, index) => `b${index}`)
  expect(changeNotes(changes(200_000, 5), { viewer, focus: [...focus, 'a4'] })).toMatchObject([
    { artifactId: 'a4', fromVersion: 1, toVersion: 40_001 },
  ])
})

it('one artifact may have any number of changes', () => {
  expect(changeNotes(changes(200_000, 1), { viewer })).toMatchObject([{ fromVersion: 1, toVersion: 200_001 }])
})
