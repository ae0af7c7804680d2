/** Patches at their limits: what the JSON Patch test suite and the cases do not reach. */
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../src/core/json.js'
import { MAX_PATCH_STEPS, patchInputSchema } from '../../src/core/patches.js'
import { applyPatch } from '../../src/core/patching/apply.js'
import { describePatch } from '../../src/core/patching/describe.js'
import { excerpt } from '../../src/core/patching/excerpt.js'
import { applyJsonPatch } from '../../src/core/patching/json-patch.js'
import { valueAt } from '../../src/core/patching/pointer.js'
import { PatchFailed } from '../../src/core/rejections.js'
import { deepFreeze } from './host.js'

const wrong = (data: JsonValue, ...ops: JsonValue[]): string => {
  try {
    return `applies: ${JSON.stringify(applyJsonPatch(data, ops))}`
  } catch (error) {
    if (!(error instanceof PatchFailed)) throw error
    return error.message
  }
}

describe('an index of a list', () => {
  const list = { a: [1, 2] }
  it.each([
    '/a/2',
    '/a/-',
    '/a/01',
    '/a/-1',
    '/a/1.0',
    '/a/1e0',
    '/a/+1',
    '/a/ 1',
    '/a/4294967297',
    '/a/length',
    '/a/',
  ])('%s is nothing that could be replaced, removed, copied, moved or tested', (path) => {
    const nothing = `finds nothing at ${path}`
    expect(wrong(list, { op: 'replace', path, value: 0 })).toContain(nothing)
    expect(wrong(list, { op: 'remove', path })).toContain(nothing)
    expect(wrong(list, { op: 'copy', from: path, path: '/b' })).toContain(nothing)
    expect(wrong(list, { op: 'move', from: path, path: '/b' })).toContain(nothing)
    expect(wrong(list, { op: 'test', path, value: 0 })).toContain(nothing)
  })

  it.each(['/a/3', '/a/00', '/a/-1', '/a/1e0', '/a/4294967297', '/a/9007199254740993', '/a/length', '/a/'])(
    '%s is no place to add to',
    (path) => {
      expect(wrong(list, { op: 'add', path, value: 0 })).toContain('has no place to add to')
      expect(wrong(list, { op: 'copy', from: '/a/0', path })).toContain('has no place to add to')
    },
  )

  it('may be the end of the list, or "-", to add to', () => {
    expect(applyJsonPatch(list, [{ op: 'add', path: '/a/2', value: 3 }])).toEqual({ a: [1, 2, 3] })
    expect(applyJsonPatch(list, [{ op: 'copy', from: '/a/0', path: '/a/-' }])).toEqual({ a: [1, 2, 1] })
  })

  it('is resolved after the removal when a value moves', () => {
    expect(wrong(list, { op: 'move', from: '/a/0', path: '/a/2' })).toContain('has no place to add to')
    expect(
      applyJsonPatch({ a: [1, 2, { b: [] }] }, [{ op: 'move', from: '/a/0', path: '/a/1/b/-' }]),
    ).toEqual({
      a: [2, { b: [1] }],
    })
    expect(applyJsonPatch(list, [{ op: 'move', from: '/a/1', path: '/a/0' }])).toEqual({ a: [2, 1] })
  })
})

describe('a pointer', () => {
  it('names keys with tildes and slashes by their escapes', () => {
    const data = { 'a/b': 1, 'm~n': 2, '~1': 3, '': 4 }
    expect(
      applyJsonPatch(data, [
        { op: 'replace', path: '/a~1b', value: 'slash' },
        { op: 'replace', path: '/m~0n', value: 'tilde' },
        { op: 'replace', path: '/~01', value: 'both' },
        { op: 'replace', path: '/', value: 'empty' },
      ]),
    ).toEqual({ 'a/b': 'slash', 'm~n': 'tilde', '~1': 'both', '': 'empty' })
  })

  it.each(['/toString', '/hasOwnProperty', '/valueOf', '/__defineGetter__'])(
    '%s names a member of the data, never of its prototype',
    (path) => {
      expect(wrong({}, { op: 'remove', path })).toContain('finds nothing')
      expect(wrong({}, { op: 'add', path: `${path}/x`, value: 1 })).toContain('has no place to add to')
      expect(applyJsonPatch({}, [{ op: 'add', path, value: 1 }])).toEqual({ [path.slice(1)]: 1 })
    },
  )

  it.each(['/__proto__/x', '/a/constructor/prototype/x', '/prototype', '/constructor'])(
    '%s is refused wherever it comes from, and nothing is polluted',
    (path) => {
      const input = patchInputSchema.safeParse({ type: 'json_patch', ops: [{ op: 'add', path, value: 1 }] })
      expect(input.error?.issues).toMatchObject([{ path: ['ops', 0, 'path'] }])
      expect(wrong({ a: {} }, { op: 'add', path, value: 1 })).toContain('is malformed')
      expect(wrong({ a: {} }, { op: 'copy', from: path, path: '/b' })).toContain('is malformed')
      expect(Object.keys(Object.prototype)).toEqual([])
    },
  )
})

describe('an operation', () => {
  it('keeps members the RFC does not name', () => {
    const op = { op: 'remove', path: '/a', comment: 'not needed' }
    expect(patchInputSchema.parse({ type: 'json_patch', ops: [op] })).toEqual({
      type: 'json_patch',
      ops: [op],
    })
  })

  it('that another implementation stored malformed does not apply', () => {
    expect(wrong({}, 'remove')).toBe('operation 0 (undefined undefined) is malformed')
    expect(wrong({}, { op: 'add', path: '/a' })).toBe('operation 0 (add /a) is malformed')
  })

  it('may copy and move everything onto something, but not into itself', () => {
    expect(applyJsonPatch({ a: 1 }, [{ op: 'copy', from: '', path: '/b' }])).toEqual({ a: 1, b: { a: 1 } })
    expect(applyJsonPatch({ a: [1] }, [{ op: 'copy', from: '/a', path: '' }])).toEqual([1])
    expect(applyJsonPatch({ a: [1] }, [{ op: 'move', from: '/a', path: '' }])).toEqual([1])
    expect(wrong({ a: 1 }, { op: 'move', from: '', path: '/b' })).toContain('moves a value into itself')
    expect(wrong({ a: 1 }, { op: 'remove', path: '' })).toContain('would leave no data')
  })

  it('that moves a value to where it is changes nothing, not even the order of keys', () => {
    const moved = applyJsonPatch({ a: 1, b: 2 }, [{ op: 'move', from: '/a', path: '/a' }])
    expect(JSON.stringify(moved)).toBe('{"a":1,"b":2}')
  })

  it('that copies leaves two values that change apart', () => {
    const ops = [
      { op: 'copy', from: '/a', path: '/b' },
      { op: 'add', path: '/b/-', value: 2 },
    ]
    expect(applyJsonPatch({ a: [1] }, ops)).toEqual({ a: [1], b: [1, 2] })
  })

  it('that tests compares as JSON, without regard to the order of keys', () => {
    expect(
      applyJsonPatch({ a: { b: 1, c: [] } }, [{ op: 'test', path: '/a', value: { c: [], b: 1 } }]),
    ).toEqual({
      a: { b: 1, c: [] },
    })
    expect(wrong({ a: 1 }, { op: 'test', path: '/a', value: '1' })).toContain('finds another value')
    expect(wrong({ a: null }, { op: 'test', path: '/b', value: null })).toContain('finds nothing')
  })
})

describe('a patch', () => {
  it('cannot grow data without bound by copying it into itself', () => {
    const doubling = Array.from({ length: 40 }, () => ({ op: 'copy', from: '/a', path: '/a/-' }))
    expect(wrong({ a: [{}] }, ...doubling)).toBe('operation 16 (copy /a/-) copies or moves too much')
  })

  it('may move as much as an artifact may hold, but not to and fro without end', () => {
    const there = { op: 'move', from: '/a', path: '/b' }
    const back = { op: 'move', from: '/b', path: '/a' }
    const data: JsonValue = { a: ['x'.repeat(940_000), ...Array.from({ length: 99_990 }, () => 0)] }
    expect(applyJsonPatch(data, [there])).toEqual({ b: data['a'] })
    expect(wrong(data, there, back)).toBe('operation 1 (move /a) copies or moves too much')
  })

  it('cannot shift the items of a long list without end', () => {
    const list = { a: Array.from({ length: 250_000 }, () => 0) }
    const many = (op: JsonValue) => Array.from({ length: MAX_PATCH_STEPS }, () => op)
    const tooMany = (...ops: JsonValue[]) => wrong(list, ...ops).replace(/ \(.*\)/, '')
    expect(tooMany(...many({ op: 'add', path: '/a/0', value: 0 }))).toBe(
      'operation 399 shifts too many items',
    )
    expect(tooMany(...many({ op: 'remove', path: '/a/0' }))).toBe('operation 400 shifts too many items')
    expect(tooMany(...many({ op: 'move', from: '/a/9', path: '/a/1' }))).toBe(
      'operation 200 shifts too many items',
    )
    expect(tooMany(...many({ op: 'copy', from: '/a/9', path: '/a/1' }))).toBe(
      'operation 399 shifts too many items',
    )
  })

  it('may put as many steps as it holds at the start of a list of as many items, or at the end of any', () => {
    const list = Array.from({ length: MAX_PATCH_STEPS }, (_, index) => index)
    const many = (op: JsonValue) => list.map(() => op)
    expect(applyJsonPatch({ a: list }, many({ op: 'remove', path: '/a/0' }))).toEqual({ a: [] })
    const long = { a: Array.from({ length: 250_000 }, () => 0) }
    expect(applyJsonPatch(long, many({ op: 'add', path: '/a/-', value: 0 }))).toHaveProperty(
      'a.length',
      260_000,
    )
    expect(applyJsonPatch(long, many({ op: 'replace', path: '/a/0', value: 1 }))).toHaveProperty('a.0', 1)
  })

  it('shares with the data as it was what it does not touch', () => {
    const data = deepFreeze({ a: { b: [1], c: {} }, d: [{ e: 1 }] })
    const ops = [
      { op: 'add', path: '/a/b/-', value: 2 },
      { op: 'add', path: '/a/b/-', value: 3 },
      { op: 'copy', from: '/d', path: '/a/f' },
      { op: 'replace', path: '/a/f/0/e', value: 2 },
    ]
    const changed = applyJsonPatch(data, ops)
    expect(changed).toEqual({ a: { b: [1, 2, 3], c: {}, f: [{ e: 2 }] }, d: [{ e: 1 }] })
    expect(valueAt(changed, ['d'])).toBe(data.d)
    expect(valueAt(changed, ['a', 'c'])).toBe(data.a.c)
  })

  it('cannot nest data beyond what may be stored, one step at a time or all at once', () => {
    const deeper = Array.from({ length: 100 }, (_, index) => ({
      op: 'add',
      path: '/a'.repeat(index + 1),
      value: {},
    }))
    expect(wrong({}, ...deeper)).toContain('operation 63 ')
    expect(wrong({}, ...deeper)).toContain('nests data deeper than 64 levels')
    const wrapping = Array.from({ length: 100 }, () => [
      { op: 'add', path: '/y', value: {} },
      { op: 'move', from: '/x', path: '/y/a' },
      { op: 'move', from: '/y', path: '/x' },
    ])
    expect(wrong({ x: 1 }, ...wrapping.flat())).toContain('nests data deeper than 64 levels')
  })

  it('holds a bounded number of steps', () => {
    const many = {
      type: 'json_patch',
      ops: Array.from({ length: MAX_PATCH_STEPS + 1 }, () => ({ op: 'remove', path: '/a' })),
    }
    expect(patchInputSchema.safeParse(many).error?.issues).toMatchObject([
      { path: ['ops'], message: 'must hold at most 10000 steps' },
    ])
  })

  it('of thousands of steps over a megabyte applies in a moment', () => {
    const items = Object.fromEntries(
      Array.from({ length: 20_000 }, (_, index) => [`t${index}`, { title: 'x'.repeat(30), done: false }]),
    )
    const ops = Array.from({ length: MAX_PATCH_STEPS }, (_, index) => ({
      op: 'replace',
      path: `/items/t${index}/done`,
      value: true,
    }))
    const started = performance.now()
    expect(applyPatch({ items }, { type: 'json_patch', ops })).toMatchObject({
      items: { t9999: { done: true } },
    })
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})

describe('in messages', () => {
  it('a long text is cut, never within a surrogate pair', () => {
    expect(excerpt('short')).toBe('short')
    expect(excerpt('x'.repeat(61))).toBe(`${'x'.repeat(60)}…`)
    expect(excerpt(`${'x'.repeat(59)}😀😀`)).toBe(`${'x'.repeat(59)}…`)
  })

  it('a patch of one or two operations is told in full', () => {
    const op = { op: 'remove', path: '/a' }
    expect(describePatch({ type: 'json_patch', ops: [op] })).toBe('remove /a')
    expect(describePatch({ type: 'json_patch', ops: [op, op] })).toBe('remove /a; remove /a')
    expect(describePatch({ type: 'json_patch', ops: [op, op, op] })).toBe('remove /a; remove /a; and 1 more')
  })
})
