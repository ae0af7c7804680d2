/** Values from outside that code trips over: each is refused with its path, wherever it comes in, and nothing is stored. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { Actor } from '../../src/core/actors.js'
import { defineArtifact } from '../../src/core/artifacts.js'
import type { Item } from '../../src/core/commit.js'
import { defineDomain } from '../../src/core/context.js'
import { type Artifact, artifactSchema } from '../../src/core/entities.js'
import type { JsonValue } from '../../src/core/json.js'
import { ValidationFailed } from '../../src/core/rejections.js'
import { contextOf, decide } from './host.js'

const system: Actor = { kind: 'system', name: 'system' }

/** Everywhere a JSON value comes in, and the path it has there. */
const entrances: readonly (readonly [string, (value: JsonValue) => Item])[] = [
  ['data', (data) => ({ type: 'create_artifact', artifactId: 'a1', kind: 'note', data, proposalId: 'p1' })],
  [
    'change.data',
    (data) => ({
      type: 'propose_change',
      proposalId: 'p1',
      change: { type: 'create', artifactId: 'a1', kind: 'note', data },
    }),
  ],
  [
    'patch.ops.0.value',
    (value) => ({
      type: 'edit_artifact',
      artifactId: 'a1',
      baseVersion: 1,
      patch: { type: 'json_patch', ops: [{ op: 'add', path: '/a', value }] },
      proposalId: 'p1',
    }),
  ],
  [
    'changes.ops.0.value',
    (value) => ({
      type: 'respond_to_proposal',
      proposalId: 'p1',
      decision: 'accept',
      changes: { type: 'json_patch', ops: [{ op: 'add', path: '/a', value }] },
    }),
  ],
  ['answer', (answer) => ({ type: 'answer_deferred', runId: 'r1', toolCallId: 'c1', answer })],
  [
    'value',
    (value) => ({
      type: 'give_feedback',
      feedbackType: 'helpfulness',
      target: { type: 'thread', threadId: 't1' },
      value,
    }),
  ],
  [
    'requests.0.args',
    (args) => ({
      type: 'run_paused',
      runId: 'r1',
      requests: [{ toolCallId: 'c1', toolName: 'ask', kind: 'question', args }],
    }),
  ],
  ['data', (data) => ({ type: 'app_event', name: 'x', data })],
]

const deep = (depth: number): JsonValue => JSON.parse(`${'{"a":'.repeat(depth)}1${'}'.repeat(depth)}`)

describe.each(entrances)('in %s', (at, itemWith) => {
  it.each<[string, JsonValue, string]>([
    ['U+0000', { a: ['b\u0000'] }, '.a.0'],
    ['a lone surrogate', { a: '\ud800' }, '.a'],
    ['a key with a lone surrogate', { a: { '\udfff': 1 } }, '.a'],
    ['__proto__ as a key', JSON.parse('{"__proto__":{"polluted":1}}'), '.__proto__'],
    ['constructor as a key', JSON.parse('{"a":{"constructor":{"prototype":{}}}}'), '.a.constructor'],
    ['a number JSON cannot hold', { a: Number.POSITIVE_INFINITY }, '.a'],
    ['nesting a hundred thousand levels deep', deep(100_000), '.a'.repeat(64)],
  ])('%s is refused', (_, value, path) => {
    const refused = () => decide(itemWith(value), {}, contextOf(system))
    expect(refused).toThrow(ValidationFailed)
    try {
      refused()
    } catch (error) {
      const [issue] = error instanceof ValidationFailed ? error.issues : []
      const inside = at.startsWith('patch') || at.startsWith('changes') ? 1 : 0
      const expected = inside && path.length > 100 ? path.slice(2) : path
      expect(issue?.path.join('.')).toBe(`${at}${expected}`)
    }
    expect(Object.hasOwn(Object.prototype, 'polluted')).toBe(false)
  })
})

const issuesOf = (item: Item) => {
  try {
    decide(item, {}, contextOf(system))
  } catch (error) {
    if (error instanceof ValidationFailed) return error.issues
  }
  return null
}

const tooMany = 'must hold at most 100000 values'
const empty = (count: number): JsonValue[] => Array.from({ length: count }, () => ({}))

describe('more values than one input may hold', () => {
  it.each(entrances)('are refused at %s as a whole', (at, itemWith) => {
    const whole = at.replace('.ops.0.value', '.ops').split('.')
    expect(issuesOf(itemWith({ a: empty(100_000), constructor: 1 }))).toEqual([
      { path: whole, message: tooMany },
    ])
  })

  const edit = (ops: JsonValue[]): Item => ({
    type: 'edit_artifact',
    artifactId: 'a1',
    baseVersion: 1,
    patch: { type: 'json_patch', ops },
    proposalId: 'p1',
  })

  it('are counted over all operations of a patch', () => {
    const ops = Array.from({ length: 100 }, () => ({ op: 'add', path: '/a', value: empty(1_000) }))
    expect(issuesOf(edit(ops))).toEqual([{ path: ['patch', 'ops'], message: tooMany }])
  })

  it('are one problem, however many steps they are', () => {
    const message = 'must hold at most 10000 steps'
    expect(issuesOf(edit(empty(340_000)))).toEqual([{ path: ['patch', 'ops'], message }])
    const edits = Array.from({ length: 340_000 }, () => ({ old: '\u0000', new: '\u0000' }))
    const item: Item = {
      type: 'edit_artifact',
      artifactId: 'a1',
      baseVersion: 1,
      patch: { type: 'text_edits', edits },
      proposalId: 'p1',
    }
    expect(issuesOf(item)).toEqual([{ path: ['patch', 'edits'], message }])
  })

  const list = defineArtifact({
    kind: 'list',
    schema: z.object({ of: z.array(z.looseObject({ done: z.boolean().default(false) })) }),
  })
  const context = contextOf(system, { definitions: defineDomain({ artifacts: [list] }) })
  const createWith = (count: number): Item => ({
    type: 'create_artifact',
    artifactId: 'a1',
    kind: 'list',
    data: { of: empty(count) },
    proposalId: 'p1',
  })
  const refused = { issues: [{ path: ['data'], message: tooMany }] }

  it('are refused too when they come of what a type fills in', () => {
    expect(decide(createWith(49_999), {}, context).events).toHaveLength(1)
    expect(() => decide(createWith(50_000), {}, context)).toThrow(expect.objectContaining(refused))
  })

  it('are refused too when they come of patches', () => {
    const { artifacts } = decide(createWith(30_000), {}, context)
    const adding = (count: number) =>
      edit([
        { op: 'add', path: '/of/-', value: { more: Array.from({ length: count }, () => 0) } },
        { op: 'replace', path: '/of/0/done', value: true },
      ])
    expect(decide(adding(39_995), { artifacts }, context).events).toHaveLength(1)
    expect(() => decide(adding(39_996), { artifacts }, context)).toThrow(expect.objectContaining(refused))
  })

  it('may be in what is stored already, and may become fewer', () => {
    const artifact: Artifact = {
      id: 'a1',
      kind: 'list',
      version: 1,
      data: { of: empty(200_000) },
      updatedBy: system,
      archived: false,
    }
    expect(artifactSchema.parse(artifact)).toEqual(artifact)
    const fewer = edit([{ op: 'replace', path: '/of', value: [{}] }])
    expect(decide(fewer, { artifacts: [artifact] }, context).artifacts[0]?.data).toEqual({
      of: [{ done: false }],
    })
  })
})

describe('an item that is none', () => {
  it.each([{}, { type: 'drop_everything' }, { type: '__proto__' }, { type: null }])(
    'is refused: %j',
    (item) => {
      expect(() => decide(item as Item, {}, contextOf(system))).toThrow(
        /^type must be one of "create_thread"/,
      )
    },
  )
})

describe('a megabyte of data', () => {
  it('is created, edited and read back', () => {
    const text = 'Ship on Friday. '.repeat(65_000)
    const created = decide(
      {
        type: 'create_artifact',
        artifactId: 'n1',
        kind: 'note',
        data: { title: 'Big', text },
        proposalId: 'p1',
      },
      {},
      contextOf(system),
    )
    const [artifact] = created.artifacts
    expect(artifact?.data).toEqual({ title: 'Big', text })
    const edited = decide(
      {
        type: 'edit_artifact',
        artifactId: 'n1',
        baseVersion: 1,
        patch: { type: 'json_patch', ops: [{ op: 'replace', path: '/title', value: 'Bigger' }] },
        proposalId: 'p1',
      },
      { artifacts: created.artifacts },
      contextOf(system),
    )
    expect(edited.artifacts[0]?.data).toEqual({ title: 'Bigger', text })
  })
})
