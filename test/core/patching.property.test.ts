/** Patches: what must hold for any data. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { type JsonValue, jsonEqual, jsonProblem } from '../../src/core/json.js'
import { patchInputSchema } from '../../src/core/patches.js'
import { diff } from '../../src/core/patching/diff.js'
import { applyJsonPatch } from '../../src/core/patching/json-patch.js'
import { formatPointer, parsePointer, valueAt } from '../../src/core/patching/pointer.js'
import { applyTextEdits } from '../../src/core/patching/text-edits.js'
import { PatchFailed } from '../../src/core/rejections.js'
import { json, key, text } from './arbitraries.js'
import { deepFreeze } from './host.js'

const asText = (value: JsonValue): string => JSON.stringify(value)

const document = fc.record({ a: json, b: fc.array(json, { maxLength: 3 }) })

/** Pointers that mostly lead somewhere in such a document. */
const pointer = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom('/a', '/b', '/b/0', '/b/1', '/b/-', '/c', '') },
  { weight: 1, arbitrary: fc.array(key, { maxLength: 3 }).map(formatPointer) },
)

const operation = fc.oneof(
  fc.record({ op: fc.constantFrom('add', 'replace', 'test'), path: pointer, value: json }),
  fc.record({ op: fc.constant('remove'), path: pointer }),
  fc.record({ op: fc.constantFrom('move', 'copy'), from: pointer, path: pointer }),
)

it('diff, then apply, gives the target to the order of its keys', () => {
  fc.assert(
    fc.property(json, json, (before, after) => {
      const ops = diff(before, after)
      expect(asText(applyJsonPatch(before, ops))).toBe(asText(after))
      expect(patchInputSchema.safeParse({ type: 'json_patch', ops }).success).toBe(true)
    }),
    { numRuns: 2_000 },
  )
})

it('a value differs from itself by nothing', () => {
  fc.assert(
    fc.property(json, (value) => {
      expect(diff(value, structuredClone(value))).toEqual([])
      expect(jsonEqual(value, structuredClone(value))).toBe(true)
    }),
  )
})

it('applying never touches its input, and either gives storable data or refuses', () => {
  let applied = 0
  fc.assert(
    fc.property(document, fc.array(operation, { minLength: 1, maxLength: 4 }), (data, ops) => {
      const before = asText(data)
      deepFreeze(data)
      deepFreeze(ops)
      try {
        expect(jsonProblem(applyJsonPatch(data, ops))).toBeNull()
        applied++
      } catch (error) {
        expect(error).toBeInstanceOf(PatchFailed)
      }
      expect(asText(data)).toBe(before)
    }),
    { numRuns: 2_000 },
  )
  expect(applied).toBeGreaterThan(100)
})

it('what a patch gives shares nothing with its operations: later patches cannot reach them', () => {
  fc.assert(
    fc.property(json, json, (data, value) => {
      const ops = [{ op: 'add', path: '', value: { a: value } }]
      const given = asText(value)
      applyJsonPatch(applyJsonPatch(data, ops), [{ op: 'replace', path: '/a', value: 1 }])
      expect(asText(value)).toBe(given)
    }),
  )
})

it('a pointer leads to what it was made from', () => {
  fc.assert(
    fc.property(fc.array(key, { maxLength: 4 }), json, (tokens, value) => {
      expect(parsePointer(formatPointer(tokens))).toEqual(tokens)
      const data = tokens.reduceRight<JsonValue>((inner, token) => ({ [token]: inner }), value)
      expect(valueAt(data, tokens)).toEqual(value)
    }),
  )
})

it('a text edit replaces the one place its anchor is at, whatever the texts are', () => {
  fc.assert(
    fc.property(text, text, text, text, (head, anchor, tail, written) => {
      const whole = head + anchor + tail
      fc.pre(
        anchor !== '' && whole.indexOf(anchor) === head.length && whole.lastIndexOf(anchor) === head.length,
      )
      const data = deepFreeze({ text: whole })
      const edited = applyTextEdits(data, {
        type: 'text_edits',
        field: 'text',
        edits: [{ old: anchor, new: written }],
      })
      expect(edited).toEqual({ text: head + written + tail })
    }),
  )
})
