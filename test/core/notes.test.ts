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
