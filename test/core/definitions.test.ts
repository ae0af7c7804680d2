/** What an application defines: artifact types and feedback types. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineArtifact, defineTextArtifact } from '../../src/core/artifacts.js'
import { checklist, note } from '../../src/core/builtin.js'
import { defineFeedback } from '../../src/core/feedback.js'
import type { JsonValue } from '../../src/core/json.js'
import { ValidationFailed } from '../../src/core/rejections.js'

const refusal = (parse: () => unknown): ValidationFailed => {
  try {
    return expect.fail(`taken: ${JSON.stringify(parse())}`)
  } catch (error) {
    if (error instanceof ValidationFailed) return error
    throw error
  }
}

const typeOf = (schema: z.ZodType) => defineArtifact({ kind: 'thing', schema })

describe('the data of an artifact', () => {
  it.each<[string, z.ZodType, JsonValue, string]>([
    [
      'keeps the order of its keys',
      z.object({ a: z.string(), b: z.string() }),
      { b: '1', a: '2' },
      '{"b":"1","a":"2"}',
    ],
    [
      'keeps the order of nested keys, and gets what is filled in last',
      z.object({
        list: z.array(z.object({ a: z.int().default(1), b: z.int(), c: z.int() })),
        z: z.int().default(0),
      }),
      {
        list: [
          { c: 3, b: 2 },
          { b: 5, a: 4, c: 6 },
        ],
      },
      '{"list":[{"c":3,"b":2,"a":1},{"b":5,"a":4,"c":6}],"z":0}',
    ],
    [
      'may be any JSON the schema takes',
      z.array(z.json()),
      [null, {}, { a: null }, [], ''],
      '[null,{},{"a":null},[],""]',
    ],
    ['may be no object at all', z.string().trim(), ' a ', '"a"'],
    ['leaves out what is optional and not given', z.object({ a: z.string().optional() }), {}, '{}'],
    [
      'keeps what a loose object does not know',
      z.looseObject({ a: z.int() }),
      { b: [1], a: 1 },
      '{"b":[1],"a":1}',
    ],
    [
      'may be a list whose items the schema drops',
      z.array(z.int()).transform((items) => items.filter((item) => item > 1)),
      [1, 2, 3],
      '[2,3]',
    ],
    [
      'is what the schema makes of it',
      z.int().transform((value) => ({ value, none: undefined })),
      1,
      '{"value":1}',
    ],
    [
      'has names of ids for keys',
      z.record(z.string(), z.int()),
      { toString: 1, b: 2 },
      '{"toString":1,"b":2}',
    ],
  ])('%s', (_, schema, data, stored) => {
    expect(JSON.stringify(typeOf(schema).parse(data))).toBe(stored)
  })

  it.each<[string, z.ZodType, JsonValue, readonly string[][]]>([
    [
      'a plain object',
      z.object({ a: z.int() }),
      { a: 1, b: 2, c: 3 },
      [
        ['data', 'b'],
        ['data', 'c'],
      ],
    ],
    [
      'a strict object',
      z.strictObject({ a: z.int() }),
      { a: 1, b: 2, c: 3 },
      [
        ['data', 'b'],
        ['data', 'c'],
      ],
    ],
    [
      'an object in a list',
      z.array(z.object({ a: z.int() })),
      [{ a: 1 }, { a: 1, b: 2 }],
      [['data', '1', 'b']],
    ],
    [
      'an object deep inside',
      z.object({ o: z.record(z.string(), z.object({ a: z.int().optional() })) }),
      { o: { x: {}, y: { b: { c: 1 } } } },
      [['data', 'o', 'y', 'b']],
    ],
    [
      'a strict object deep inside',
      z.object({ o: z.strictObject({}) }),
      { o: { b: 1 } },
      [['data', 'o', 'b']],
    ],
  ])('has no unknown keys in %s', (_, schema, data, paths) => {
    const refused = refusal(() => typeOf(schema).parse(data))
    expect(refused.message).toBe('invalid thing data')
    expect(refused.issues).toEqual(paths.map((path) => ({ path, message: 'is not known' })))
  })

  it('gets what is filled in whatever its name', () => {
    const schema = z.object({ b: z.int() }).transform((data) => ({ ...data, toString: 'a' }))
    expect(JSON.stringify(typeOf(schema).parse({ b: 1 }))).toBe('{"b":1,"toString":"a"}')
  })

  it('that another implementation stored with an unsafe key is refused like any other', () => {
    const data: JsonValue = JSON.parse('{"a":[{"__proto__":{"b":1}}]}')
    expect(refusal(() => typeOf(z.looseObject({})).parse(data)).issues).toEqual([
      { path: ['data', 'a', '0', '__proto__'], message: 'is not allowed as a key' },
    ])
  })

  it('is refused with every problem and its path', () => {
    const schema = z.object({
      n: z.number(),
      b: z.boolean(),
      o: z.object({}),
      l: z.array(z.string()).min(1),
      s: z.string().min(2).max(3),
      e: z.enum(['x', 'y']),
      c: z.literal('k'),
      u: z.union([z.string(), z.number()]),
      m: z.email(),
      r: z.record(z.string(), z.int()),
      t: z.tuple([z.int()]),
      own: z.string().refine(() => false, 'must be nicer'),
    })
    const data = {
      n: '1',
      b: 1,
      o: [],
      l: [],
      s: 'x',
      e: 'z',
      c: 'j',
      u: null,
      m: 'nobody',
      r: 1,
      t: 1,
      own: '',
    }
    expect(refusal(() => typeOf(schema).parse(data)).issues).toEqual([
      { path: ['data', 'n'], message: 'must be a number' },
      { path: ['data', 'b'], message: 'must be true or false' },
      { path: ['data', 'o'], message: 'must be an object' },
      { path: ['data', 'l'], message: 'must be at least 1 items' },
      { path: ['data', 's'], message: 'must be at least 2 characters' },
      { path: ['data', 'e'], message: 'must be one of "x", "y"' },
      { path: ['data', 'c'], message: 'must be "k"' },
      { path: ['data', 'u'], message: 'is of no allowed form' },
      { path: ['data', 'm'], message: 'Invalid email address' },
      { path: ['data', 'r'], message: 'must be an object' },
      { path: ['data', 't'], message: 'must be tuple' },
      { path: ['data', 'own'], message: 'must be nicer' },
    ])
    expect(refusal(() => typeOf(schema).parse({ ...data, s: 'xxxx' })).issues[4]).toMatchObject({
      message: 'must be at most 3 characters',
    })
    expect(refusal(() => typeOf(schema).parse({})).issues).toHaveLength(12)
  })

  it('is not what a schema makes of it that is no JSON: a mistake of the application', () => {
    expect(() => typeOf(z.string().transform((text) => new Date(text))).parse('2026-10-01')).toThrow(
      TypeError,
    )
    expect(() => typeOf(z.object({ a: z.int().transform(() => Number.NaN) })).parse({ a: 1 })).toThrow(
      'the schema of thing data yields no JSON',
    )
  })
})

describe('an artifact type', () => {
  const task = defineArtifact({
    kind: 'task',
    schema: z.object({ title: z.string(), done: z.boolean().default(false) }),
    describeChange: (before, after) => (before.done ? '' : `completed ${after.title}`),
    renderForAgent: ({ title, done }) => `[${done ? 'x' : ' '}] ${title}`,
  })

  it('lets agents write directly unless it says otherwise', () => {
    expect([task.writePolicy, note.writePolicy, checklist.writePolicy]).toEqual([
      'direct',
      'direct',
      'propose',
    ])
  })

  it('describes changes in its own words, or leaves them to the general description', () => {
    expect(task.describeChange({ title: 'a', done: false }, { title: 'a', done: true })).toBe('completed a')
    expect(task.describeChange({ title: 'a', done: true }, { title: 'b', done: true })).toBeNull()
    expect(note.describeChange({ title: 'a', text: '' }, { title: 'b', text: '' })).toBeNull()
  })

  it('has no words for data that was stored under another schema', () => {
    expect(task.describeChange({ name: 'a' }, { title: 'a', done: true })).toBeNull()
    expect(task.describeChange({ title: 'a' }, { name: 'a' })).toBeNull()
  })

  it('shows agents what it likes, or JSON', () => {
    expect(task.renderForAgent({ title: 'Ship' })).toBe('[ ] Ship')
    expect(task.renderForAgent({ name: 'Ship' })).toBe('{\n  "name": "Ship"\n}')
    expect(checklist.renderForAgent({ title: 'Launch', items: {} })).toBe(
      '{\n  "title": "Launch",\n  "items": {}\n}',
    )
  })

  it('made of text shows agents the text, unless it says otherwise', () => {
    expect(note.renderForAgent({ title: 'Plan', text: '# Ship' })).toBe('# Ship')
    expect(note.renderForAgent({ body: '# Ship' })).toBe('{\n  "body": "# Ship"\n}')
    expect(note.renderForAgent('# Ship')).toBe('"# Ship"')
    const memo = defineTextArtifact({
      kind: 'memo',
      fields: {},
      renderForAgent: ({ text }) => `memo: ${text}`,
    })
    expect(memo.renderForAgent({ text: 'Hi' })).toBe('memo: Hi')
  })

  it('tells clients its JSON Schema: defaults optional, unknown keys refused, Markdown marked', () => {
    expect(note.jsonSchema).toMatchObject({
      type: 'object',
      properties: {
        title: { type: 'string' },
        text: { type: 'string', default: '', contentMediaType: 'text/markdown' },
      },
      required: ['title'],
      additionalProperties: false,
    })
    expect(checklist.jsonSchema).toMatchObject({
      properties: {
        items: {
          additionalProperties: {
            properties: { title: { type: 'string' }, done: { type: 'boolean', default: false } },
            required: ['title'],
            additionalProperties: false,
          },
        },
      },
      required: ['title'],
    })
    expect(typeOf(z.looseObject({})).jsonSchema).toMatchObject({ additionalProperties: {} })
    expect(typeOf(z.bigint().or(z.string())).jsonSchema).toMatchObject({ anyOf: [{}, { type: 'string' }] })
  })

  it('has a name', () => {
    expect(() => defineArtifact({ kind: '', schema: z.string() })).toThrow(
      'the name of an artifact type must not be empty',
    )
    expect(() => defineFeedback({ name: '\ud800', targets: [], schema: z.string() })).toThrow(TypeError)
  })
})
