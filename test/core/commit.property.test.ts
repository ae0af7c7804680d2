/** Commits: what must hold for any command against any state. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { z } from 'zod'
import { defineArtifact } from '../../src/core/artifacts.js'
import type { Item } from '../../src/core/commit.js'
import { defineDomain } from '../../src/core/context.js'
import type { Artifact, Proposal } from '../../src/core/entities.js'
import { type JsonValue, jsonEqual } from '../../src/core/json.js'
import type { Patch } from '../../src/core/patches.js'
import { applyPatch } from '../../src/core/patching/apply.js'
import { diff } from '../../src/core/patching/diff.js'
import { Rejection } from '../../src/core/rejections.js'
import type { CommitResult } from '../../src/core/state.js'
import { actor, json } from './arbitraries.js'
import { contextOf, decide, deepFreeze, plain, type World } from './host.js'

/** Anything goes, some of it normalised: what is nested gets a default, and texts lose their ends. */
const anything = defineArtifact({
  kind: 'anything',
  schema: z.object({
    title: z.string().trim().default('untitled'),
    body: z.json().default(null),
    items: z
      .record(z.string(), z.object({ n: z.int().default(0), note: z.string().trim().optional() }))
      .default({}),
  }),
})
const definitions = defineDomain({ artifacts: [anything] })

const data = fc.record(
  {
    title: fc.constantFrom('Plan', ' Plan ', 'Go'),
    body: json,
    items: fc.dictionary(
      fc.constantFrom('a', 'b', 'c', '1'),
      fc.record(
        { n: fc.integer(), note: fc.constantFrom('x', ' y') },
        { requiredKeys: [], noNullPrototype: true },
      ),
      { noNullPrototype: true },
    ),
  },
  { requiredKeys: [], noNullPrototype: true },
)

const ada = { kind: 'user', id: 'u1' } as const
const bob = { kind: 'user', id: 'u2' } as const

const stored = (value: JsonValue): Artifact => ({
  id: 'a1',
  kind: 'anything',
  version: 1,
  data: anything.parse(value),
  updatedBy: ada,
  archived: false,
})

/** The decision, or the refusal. */
const outcome = (item: Item, world: World, by: Parameters<typeof contextOf>[0]): CommitResult | Rejection => {
  try {
    return decide(item, world, contextOf(by, { definitions, traceId: 'tr1' }))
  } catch (error) {
    if (error instanceof Rejection) return error
    throw error
  }
}

/** The recorded patch, applied to the data before, gives the stored data to the order of its keys. */
const reproduces = (before: JsonValue, { revisions, artifacts }: CommitResult): void => {
  const [revision] = revisions
  const [artifact] = artifacts
  if (revision?.patch === undefined || artifact === undefined) throw new Error('nothing was changed')
  expect(JSON.stringify(applyPatch(before, revision.patch))).toBe(JSON.stringify(artifact.data))
  expect(revision.data).toEqual(artifact.data)
  expect(jsonEqual(before, artifact.data)).toBe(false)
}

it('the recorded patch of an edit reproduces the stored data, whatever validation made of it', () => {
  let edited = 0
  fc.assert(
    fc.property(data, data, (before, after) => {
      const artifact = deepFreeze(stored(before))
      const patch: Patch = { type: 'json_patch', ops: diff(artifact.data, after) }
      const item: Item = { type: 'edit_artifact', artifactId: 'a1', baseVersion: 1, patch, proposalId: 'p1' }
      const result = outcome(item, { artifacts: [artifact] }, bob)
      if (result instanceof Rejection) {
        expect(result.message).toBe('the patch changes nothing')
        return
      }
      edited++
      reproduces(artifact.data, result)
      expect(result.artifacts[0]?.data).toEqual(anything.parse(after))
    }),
    { numRuns: 500 },
  )
  expect(edited).toBeGreaterThan(100)
})

it('the recorded patch of an acceptance reproduces the stored data, with changes layered on or not', () => {
  let accepted = 0
  fc.assert(
    fc.property(data, data, fc.option(data, { nil: undefined }), (before, proposed, final) => {
      const artifact = deepFreeze({ ...stored(before), version: 4 })
      const patch: Patch = { type: 'json_patch', ops: diff(artifact.data, proposed) }
      const change = { type: 'edit', artifactId: 'a1', baseVersion: 1, patch, summary: 'proposed' } as const
      const proposal: Proposal = { id: 'p1', artifactId: 'a1', change, proposedBy: ada, status: 'pending' }
      const changes: Patch | undefined = final && { type: 'json_patch', ops: diff(proposed, final) }
      const item: Item = { type: 'respond_to_proposal', proposalId: 'p1', decision: 'accept', changes }
      const result = outcome(item, { artifacts: [artifact], proposals: [proposal] }, bob)
      if (result instanceof Rejection) {
        expect(result.message).toBe('the patch changes nothing')
        return
      }
      accepted++
      reproduces(artifact.data, result)
      expect(result.artifacts[0]).toMatchObject({ version: 5, data: anything.parse(final ?? proposed) })
    }),
    { numRuns: 500 },
  )
  expect(accepted).toBeGreaterThan(100)
})

const id = fc.constantFrom('x', 'y')
const patch: fc.Arbitrary<Patch> = fc.oneof(
  fc.constant<Patch>({ type: 'text_edits', field: 'title', edits: [{ old: 'Plan', new: 'Go' }] }),
  json.map((value): Patch => ({ type: 'json_patch', ops: [{ op: 'replace', path: '/body', value }] })),
)
const change = fc.oneof(
  fc.record({
    type: fc.constant('create' as const),
    artifactId: id,
    kind: fc.constantFrom('anything', 'poem'),
    data,
  }),
  fc.record({
    type: fc.constant('edit' as const),
    artifactId: id,
    baseVersion: fc.constantFrom(1, 2),
    patch,
  }),
  fc.record({ type: fc.constant('archive' as const), artifactId: id, baseVersion: fc.constantFrom(1, 2) }),
)

/** Commands and facts that mostly mean something in the worlds below. */
const item: fc.Arbitrary<Item> = fc.oneof(
  fc.record({ type: fc.constant('create_thread' as const), threadId: id }),
  fc.record({
    type: fc.constant('post_message' as const),
    threadId: id,
    messageId: id,
    content: fc.string(),
  }),
  fc.record({ type: fc.constant('set_focus' as const), threadId: id, artifactIds: fc.array(id) }),
  fc.record({
    type: fc.constant('set_thread_mode' as const),
    threadId: id,
    mode: fc.constantFrom('edit', 'suggest'),
  }),
  fc.record({
    type: fc.constant('create_artifact' as const),
    artifactId: id,
    kind: fc.constant('anything'),
    data,
    proposalId: id,
  }),
  fc.record({
    type: fc.constant('edit_artifact' as const),
    artifactId: id,
    baseVersion: fc.constant(1),
    patch,
    proposalId: id,
  }),
  fc.record({
    type: fc.constant('archive_artifact' as const),
    artifactId: id,
    baseVersion: fc.constant(1),
    proposalId: id,
  }),
  fc.record({ type: fc.constant('propose_change' as const), proposalId: id, change }),
  fc.record({
    type: fc.constant('respond_to_proposal' as const),
    proposalId: id,
    decision: fc.constantFrom('accept', 'reject'),
  }),
  fc.record({ type: fc.constant('answer_deferred' as const), runId: id, toolCallId: id, answer: json }),
  fc.record({
    type: fc.constant('run_started' as const),
    runId: id,
    threadId: id,
    trigger: fc.constantFrom('message', 'resume'),
  }),
  fc.record({
    type: fc.constant('run_ended' as const),
    runId: id,
    status: fc.constantFrom('completed', 'failed'),
  }),
  fc.record({ type: fc.constant('app_event' as const), name: fc.string(), data: json }),
)

const world: fc.Arbitrary<World> = fc.record(
  {
    threads: fc.constant([{ id: 'x', title: '', mode: 'suggest' as const, focus: [] }]),
    artifacts: data.map((value) => [{ ...stored(value), id: 'x' }]),
    proposals: fc
      .record({ change, status: fc.constantFrom('pending' as const, 'accepted' as const) })
      .map(({ change: drafted, status }) => [
        {
          id: 'x',
          artifactId: drafted.artifactId,
          change: drafted.type === 'edit' ? { ...drafted, summary: 'proposed' } : drafted,
          proposedBy: ada,
          status,
        },
      ]),
    runs: fc.constantFrom('running' as const, 'paused' as const).map((status) => [
      {
        id: 'x',
        threadId: 'x',
        status,
        pending: [{ toolCallId: 'x', toolName: 'ask', kind: 'question' as const, args: {} }],
        answers: [],
        traceIds: [],
      },
    ]),
    messages: fc.constant(['x']),
  },
  { requiredKeys: [] },
)

it('a decision is pure: the same twice, touching neither the item nor the state nor the context', () => {
  const seen = new Map<string, number>()
  fc.assert(
    fc.property(item, world, actor, (decided, given, by) => {
      const [first, second] = [0, 1].map(() =>
        outcome(deepFreeze(decided), deepFreeze(given), deepFreeze(by)),
      )
      expect(plain(first)).toEqual(plain(second))
      const what = first instanceof Rejection ? first.code : 'accepted'
      seen.set(what, (seen.get(what) ?? 0) + 1)
    }),
    { numRuns: 2_000 },
  )
  expect(seen.get('accepted')).toBeGreaterThan(200)
})

it('a message is accepted exactly when its thread exists and its id is unused, and uses it up (ADR-0045)', () => {
  fc.assert(
    fc.property(id, id, fc.array(id), fc.array(id), actor, (threadId, messageId, threads, messages, by) => {
      fc.pre(by.kind !== 'evaluator')
      const given: World = {
        threads: [...new Set(threads)].map((thread) => ({ id: thread, title: '', mode: 'edit', focus: [] })),
        messages,
      }
      const result = outcome({ type: 'post_message', threadId, messageId, content: 'Hi' }, given, by)
      if (!threads.includes(threadId)) {
        expect(result).toMatchObject({ code: 'not_found' })
      } else if (messages.includes(messageId)) {
        expect(result).toMatchObject({
          reason: 'already_exists',
          message: `message ${messageId} already exists`,
        })
      } else {
        expect(result).toMatchObject({ messages: [messageId] })
      }
    }),
  )
})
