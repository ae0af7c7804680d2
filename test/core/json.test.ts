/** JSON from outside: what may be stored, and what is refused, where. */
import { runInNewContext } from 'node:vm'
import { describe, expect, it } from 'vitest'
import {
  jsonEqual,
  jsonInputSchema,
  jsonProblem,
  jsonSchema,
  MAX_JSON_DEPTH,
  MAX_JSON_VALUES,
} from '../../src/core/json.js'

const nested = (depth: number): unknown => {
  let value: unknown = 1
  for (let level = 0; level < depth; level++) value = level % 2 === 0 ? [value] : { a: value }
  return value
}

describe('a JSON value', () => {
  it.each([
    ['null', null],
    ['an empty object', {}],
    ['an object with a null', { a: null }],
    ['an empty list', []],
    ['an empty text', ''],
    ['false', false],
    ['zero', 0],
    ['the biggest number', Number.MAX_VALUE],
    ['names that objects have members of', { toString: 1, hasOwnProperty: { valueOf: [] }, length: 2 }],
    ['an empty key', { '': { '': '' } }],
    ['a well-formed text beyond the basic plane', { '😀': '😀' }],
  ])('that is %s comes back as it went in', (_, value) => {
    expect(jsonProblem(value)).toBeNull()
    expect(JSON.stringify(jsonInputSchema.parse(value))).toBe(JSON.stringify(value))
  })

  it('keeps the order of its keys', () => {
    expect(JSON.stringify(jsonInputSchema.parse({ b: 1, a: { d: 2, c: 3 } }))).toBe(
      '{"b":1,"a":{"d":2,"c":3}}',
    )
  })

  it('holds 0 for -0, as JSON text would', () => {
    const value = jsonInputSchema.parse({ a: [-0] })
    expect(Object.is(value, value) && JSON.stringify(value)).toBe('{"a":[0]}')
    expect(value).toStrictEqual({ a: [0] })
  })

  it('leaves out properties that are undefined, as JSON text would', () => {
    expect(Object.keys(jsonInputSchema.parse({ a: undefined, b: 1 }) ?? {})).toEqual(['b'])
  })

  it('may come without a prototype, or from another realm', () => {
    expect(jsonInputSchema.parse(Object.assign(Object.create(null), { a: 1 }))).toEqual({ a: 1 })
    expect(jsonInputSchema.parse(runInNewContext('({ a: [1] })'))).toEqual({ a: [1] })
  })

  it('is a copy, which shares nothing with what came in', () => {
    const value = { a: [{ b: 1 }] }
    const stored = jsonInputSchema.parse(value)
    expect(stored).toEqual(value)
    value.a.push({ b: 2 })
    expect(stored).toEqual({ a: [{ b: 1 }] })
  })

  it(`may be nested ${MAX_JSON_DEPTH} levels deep, and no deeper`, () => {
    expect(jsonProblem(nested(MAX_JSON_DEPTH))).toBeNull()
    expect(jsonProblem(nested(MAX_JSON_DEPTH + 1))).toMatchObject({
      message: 'must not be nested deeper than 64 levels',
    })
  })

  it('is refused at depth 100,000 without running out of stack, with a bounded path', () => {
    const problem = jsonProblem(JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`))
    expect(problem?.path).toHaveLength(MAX_JSON_DEPTH)
    expect(jsonProblem(nested(100_000))?.path).toHaveLength(MAX_JSON_DEPTH)
  })

  it.each<[string, (count: number) => unknown]>([
    ['of a list', (count) => Array.from({ length: count }, () => ({}))],
    ['of lists in lists', (count) => Array.from({ length: count / 5 }, () => [1, '', null, true])],
    ['of an object', (count) => Object.fromEntries(Array.from({ length: count }, (_, index) => [index, 0]))],
  ])(`may hold ${MAX_JSON_VALUES} values, and no more: %s`, (_, holding) => {
    const full = { a: [], b: holding(MAX_JSON_VALUES - 5), c: undefined, d: '', e: 0 }
    expect(jsonProblem(full)).toBeNull()
    const path: string[] = []
    const problem = { path, message: 'must hold at most 100000 values' }
    expect(jsonProblem({ ...full, f: null })).toEqual(problem)
    expect(jsonInputSchema.safeParse([full]).error?.issues).toMatchObject([problem])
  })

  it('that is stored reads, however much it holds', () => {
    const values = Array.from({ length: MAX_JSON_VALUES + 1 }, () => 0)
    expect(jsonSchema.parse(values)).toBe(values)
  })

  it('is looked through no further than that', () => {
    let looked = 0
    const counting = new Proxy(new Array(1_000_000).fill(0), {
      get: (values, key) => {
        looked++
        return Reflect.get(values, key)
      },
    })
    expect(jsonProblem(counting)).not.toBeNull()
    expect(looked).toBeLessThan(3 * MAX_JSON_VALUES)
  })

  it('is refused when it holds itself', () => {
    const cyclic: Record<string, unknown> = {}
    cyclic['a'] = { b: cyclic }
    expect(jsonProblem(cyclic)).not.toBeNull()
  })

  const lone = 'must be well-formed Unicode, without lone surrogates'
  const unsafe = 'is not allowed as a key'
  it.each([
    ['NaN', { a: [Number.NaN] }, ['a', '0'], 'must be a finite number'],
    ['infinity', { a: { b: Number.NEGATIVE_INFINITY } }, ['a', 'b'], 'must be a finite number'],
    ['a bigint', [1n], ['0'], 'must be JSON'],
    ['a function', { a: () => 1 }, ['a'], 'must be JSON'],
    ['a symbol', { a: Symbol('a') }, ['a'], 'must be JSON'],
    ['undefined in a list', [undefined], ['0'], 'must be JSON'],
    ['a hole in a list', new Array(1), ['0'], 'must be JSON'],
    ['a date', { at: new Date(0) }, ['at'], 'must be JSON'],
    ['a map', new Map(), [], 'must be JSON'],
    ['U+0000', { a: ['\u0000'] }, ['a', '0'], 'must not hold U+0000'],
    ['a lone surrogate', { a: 'x\ud800' }, ['a'], lone],
    ['U+0000 in a key', { a: { 'b\u0000': 1 } }, ['a'], 'has a key which must not hold U+0000'],
    ['a lone surrogate in a key', { '\udc00': 1 }, [], `has a key which ${lone}`],
    ['__proto__ as a key', JSON.parse('{"a":{"__proto__":{"b":1}}}'), ['a', '__proto__'], unsafe],
    ['constructor as a key', { a: [{ constructor: 1 }] }, ['a', '0', 'constructor'], unsafe],
    ['prototype as a key', { prototype: null }, ['prototype'], unsafe],
    ['an unsafe key without a value', { prototype: undefined }, ['prototype'], unsafe],
  ])('is refused when it holds %s, with the path', (_, value, path, message) => {
    expect(jsonProblem(value)).toEqual({ path, message })
    expect(jsonInputSchema.safeParse(value).error?.issues).toMatchObject([{ path, message }])
  })

  it('is required where it is asked for, and null is one', () => {
    expect(jsonInputSchema.safeParse(undefined).error?.issues).toMatchObject([{ message: 'is required' }])
    expect(jsonSchema.safeParse(undefined).success).toBe(false)
    expect(jsonSchema.parse(null)).toBeNull()
  })

  it('of a megabyte is taken in milliseconds', () => {
    const value = Array.from({ length: 20_000 }, (_, index) => ({
      id: `item ${index}`,
      text: 'x'.repeat(20),
    }))
    const started = performance.now()
    expect(jsonInputSchema.parse(value)).toHaveLength(20_000)
    expect(performance.now() - started).toBeLessThan(2_000)
  })
})

describe('a JSON value and itself', () => {
  it('are equal without a look inside', () => {
    const closed = Object.defineProperty({}, 'a', {
      enumerable: true,
      get: () => expect.fail('looked inside'),
    })
    expect(jsonEqual({ a: closed }, { a: closed })).toBe(true)
  })
})

describe('two JSON values', () => {
  it.each([
    [
      { a: 1, b: [2] },
      { b: [2], a: 1 },
    ],
    [[], []],
    [null, null],
    [{}, {}],
  ])('%j and %j are equal', (a, b) => {
    expect(jsonEqual(a, b)).toBe(true)
  })

  it.each([
    [{ a: 1 }, { a: 1, b: 1 }],
    [{ a: null }, {}],
    [{ a: null }, { b: null }],
    [{ toString: 1 }, { a: 1 }],
    [
      [1, 2],
      [2, 1],
    ],
    [[], {}],
    [[null], []],
    [{}, null],
    ['1', 1],
    [0, false],
    [{ a: { b: [1] } }, { a: { b: [2] } }],
  ])('%j and %j differ, whichever comes first', (a, b) => {
    expect(jsonEqual(a, b)).toBe(false)
    expect(jsonEqual(b, a)).toBe(false)
  })
})
