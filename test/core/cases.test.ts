/** The decisions of core, one JSON case each: an actor, what is given, a command or fact, and what is expected. */
import { readdirSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { actorSchema } from '../../src/core/actors.js'
import { defineArtifact } from '../../src/core/artifacts.js'
import { note } from '../../src/core/builtin.js'
import type { Item } from '../../src/core/commit.js'
import { type Definitions, defaultDefinitions, defineDomain } from '../../src/core/context.js'
import { artifactSchema, proposalSchema, runSchema, threadSchema } from '../../src/core/entities.js'
import { eventTypes } from '../../src/core/events.js'
import { defineFeedback } from '../../src/core/feedback.js'
import { Rejection } from '../../src/core/rejections.js'
import { contextOf, decideWith, deepFreeze, load, plain } from './host.js'

/** A type of an application's, that normalises what it stores and has words for its changes. */
const task = defineArtifact({
  kind: 'task',
  schema: z.object({
    title: z.string().trim(),
    state: z.enum(['open', 'done']).default('open'),
    tags: z.array(z.string()).default([]),
  }),
  describeChange: (before, after) =>
    before.state === 'open' && after.state === 'done' ? `completed ${after.title}` : '',
})

/** What applications define in these cases; the built-in types where a case names none. */
const domains: { readonly [name: string]: Definitions } = {
  builtin: defaultDefinitions,
  tasks: defineDomain({ artifacts: [note, task] }),
  'only notes allowed': defineDomain({ artifacts: [note, task], allowedArtifacts: ['note'] }),
  judged: defineDomain({
    feedback: [
      defineFeedback({ name: 'quality', targets: ['artifact'], schema: z.object({ score: z.number() }) }),
    ],
  }),
  'short messages': defineDomain({ maxMessageLength: 5 }),
  'small artifacts': defineDomain({ artifacts: [note], maxArtifactSize: 20 }),
}

const caseSchema = z.strictObject({
  name: z.string(),
  domain: z.string().default('builtin'),
  actor: actorSchema,
  traceId: z.string().optional(),
  given: z.strictObject({
    threads: z.array(threadSchema).default([]),
    artifacts: z.array(artifactSchema).default([]),
    proposals: z.array(proposalSchema).default([]),
    runs: z.array(runSchema).default([]),
    messages: z.array(z.string()).default([]),
  }),
  command: z.custom<Item>().optional(),
  fact: z.custom<Item>().optional(),
  expected: z.looseObject({
    rejection: z.looseObject({ code: z.string(), reason: z.string().optional() }).optional(),
    events: z.array(z.looseObject({ event: z.looseObject({ type: z.string() }) })).optional(),
  }),
})

const folder = new URL('./cases/', import.meta.url)
const files = readdirSync(folder).filter((file) => file.endsWith('.json') && file !== 'notes.json')
const areas = files.map((file) => ({
  area: file.replace('.json', ''),
  cases: z.array(caseSchema).parse(JSON.parse(readFileSync(new URL(file, folder), 'utf8'))),
}))

/** A result without the lists that are empty, or a refusal with its details. */
const decided = (item: Item, test: z.output<typeof caseSchema>): unknown => {
  const context = contextOf(test.actor, {
    definitions: domains[test.domain] ?? expect.fail(`no domain ${test.domain}`),
    traceId: test.traceId,
  })
  try {
    const { state } = load(item, test.given, context)
    const { outcome, events, ...saves } = decideWith(item, deepFreeze(state), deepFreeze(context))
    const saved = Object.entries(saves).filter(([, entities]) => entities.length > 0)
    return plain({ outcome, events, ...Object.fromEntries(saved) })
  } catch (error) {
    if (!(error instanceof Rejection)) throw error
    return { rejection: plain({ ...error, message: error.message }) }
  }
}

for (const { area, cases } of areas) {
  describe(area, () => {
    it.each(cases)('$name', (test) => {
      const item = test.command ?? test.fact ?? expect.fail('the case has no command and no fact')
      deepFreeze(item)
      expect(decided(item, test)).toEqual(test.expected)
    })
  })
}

describe('the cases together', () => {
  const all = areas.flatMap(({ cases }) => cases)
  const rejections = all.flatMap(({ expected }) => expected.rejection ?? [])

  it('tell their names apart', () => {
    expect(new Set(all.map(({ name }) => name)).size).toBe(all.length)
  })

  it('hold every rejection', () => {
    expect([...new Set(rejections.map(({ code }) => code))].sort()).toEqual([
      'forbidden',
      'invalid_state',
      'not_found',
      'patch_failed',
      'validation_failed',
      'version_conflict',
    ])
  })

  it('hold every reason of a state that does not allow something', () => {
    expect([...new Set(rejections.flatMap(({ reason }) => reason ?? []))].sort()).toEqual([
      'already_answered',
      'already_exists',
      'already_resolved',
      'archived',
      'not_paused',
      'run_not_active',
      'wrong_answer',
      'wrong_thread',
    ])
  })

  it('hold every type of event', () => {
    const emitted = new Set(
      all.flatMap(({ expected }) => (expected.events ?? []).map(({ event }) => event.type)),
    )
    expect(eventTypes.filter((type) => !emitted.has(type))).toEqual([])
  })
})
