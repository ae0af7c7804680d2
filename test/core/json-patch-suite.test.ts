/** The JSON Patch test suite (`json-patch-test-suite`), through the patches of core: form first, then application. */
import { createRequire } from 'node:module'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type JsonValue, jsonSchema } from '../../src/core/json.js'
import { patchInputSchema } from '../../src/core/patches.js'
import { applyJsonPatch } from '../../src/core/patching/json-patch.js'

const require = createRequire(import.meta.url)
const suites = {
  'tests.json': require('json-patch-test-suite/tests.json'),
  'spec_tests.json': require('json-patch-test-suite/spec_tests.json'),
}
const files = ['tests.json', 'spec_tests.json'] as const

const suite = (file: keyof typeof suites) =>
  z
    .array(
      z.object({
        comment: z.string().optional(),
        doc: jsonSchema.optional(),
        patch: z.array(jsonSchema).optional(),
        expected: jsonSchema.optional(),
        error: z.string().optional(),
        disabled: z.boolean().optional(),
      }),
    )
    .parse(suites[file])
    .flatMap(({ doc, patch, disabled, ...rest }, index) =>
      doc === undefined || patch === undefined || disabled
        ? []
        : [{ ...rest, doc, patch, name: `${index}: ${rest.comment ?? rest.error ?? JSON.stringify(patch)}` }],
    )

/** Well-formed, as a command has it, and applied. @throws for either. */
const patched = (doc: JsonValue, ops: JsonValue[]): JsonValue => {
  patchInputSchema.parse({ type: 'json_patch', ops })
  return applyJsonPatch(doc, ops)
}

it('the suite is there', () => {
  expect(files.flatMap(suite).length).toBeGreaterThan(90)
})

// None of its cases is one that our stricter rules refuse on purpose: no unsafe keys, no removal of everything, no deep nesting.
describe.each(files)('%s', (file) => {
  it.each(suite(file))('$name', ({ doc, patch, expected, error }) => {
    if (error !== undefined) {
      expect(() => patched(doc, patch)).toThrow()
    } else {
      const result = patched(doc, patch)
      if (expected !== undefined) expect(result).toEqual(expected)
    }
  })
})
