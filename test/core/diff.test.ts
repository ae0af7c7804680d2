/** The patch that leads from one value to another. */
import { describe, expect, it } from 'vitest'
import type { JsonValue } from '../../src/core/json.js'
import { diff } from '../../src/core/patching/diff.js'

describe('the diff of two values', () => {
  it.each<[JsonValue, JsonValue, JsonValue[]]>([
    [{ a: 1 }, { a: 1 }, []],
    [{ a: 1 }, { a: 2 }, [{ op: 'replace', path: '/a', value: 2 }]],
    [
      { a: 1, b: 2 },
      { b: 2, c: 3 },
      [
        { op: 'remove', path: '/a' },
        { op: 'add', path: '/c', value: 3 },
      ],
    ],
    [{ 'a/b': 1 }, { 'a/b': null }, [{ op: 'replace', path: '/a~1b', value: null }]],
    [[1, 2, 3], [1, 3], [{ op: 'remove', path: '/1' }]],
    [[1, 3], [1, 2, 3], [{ op: 'add', path: '/1', value: 2 }]],
    [
      [1, 2],
      [3],
      [
        { op: 'replace', path: '/0', value: 3 },
        { op: 'remove', path: '/1' },
      ],
    ],
    [
      [],
      [1, 2],
      [
        { op: 'add', path: '/0', value: 1 },
        { op: 'add', path: '/1', value: 2 },
      ],
    ],
    [[{ a: 1, b: 2 }], [{ a: 1, b: 3 }], [{ op: 'replace', path: '/0/b', value: 3 }]],
    [{ a: [] }, { a: {} }, [{ op: 'replace', path: '/a', value: {} }]],
    [1, 2, [{ op: 'replace', path: '', value: 2 }]],
    [{ a: 1, b: 2 }, { b: 2, a: 1 }, [{ op: 'replace', path: '', value: { b: 2, a: 1 } }]],
  ])('%j and %j is %j', (before, after, ops) => {
    expect(diff(before, after)).toEqual(ops)
  })

  it('of two long lists takes a moment', () => {
    const before = Array.from({ length: 20_000 }, (_, index) => ({ id: index, tags: [index] }))
    const after = before.map(({ id }) => ({ id, tags: [id + 1] }))
    const started = performance.now()
    expect(diff(before, after)).toHaveLength(20_000)
    expect(performance.now() - started).toBeLessThan(5_000)
  })
})
