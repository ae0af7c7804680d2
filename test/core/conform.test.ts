/** Checking data against its schema: what is left as it is, and how often it is checked. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { type ArtifactType, defineArtifact } from '../../src/core/artifacts.js'
import { conform } from '../../src/core/conform.js'
import { defineDomain } from '../../src/core/context.js'
import type { JsonValue } from '../../src/core/json.js'
import { contextOf, decide } from './host.js'

const conformed = (schema: z.ZodType, value: JsonValue) => conform(schema, value, 'thing data', 'data')

describe('data that conforms to its schema', () => {
  it('is the very value that was given where the schema leaves it as it is, whatever order the schema has', () => {
    const schema = z.object({ a: z.array(z.object({ c: z.int(), b: z.null() })), d: z.string() })
    const data = { d: '', a: [{ b: null, c: 1 }] }
    expect(conformed(schema, data)).toBe(data)
  })

  it('holds 0 for -0 and nothing undefined, also where the schema leaves them', () => {
    const data = JSON.parse('{"a":[-0]}')
    expect(JSON.stringify(conformed(z.json(), data))).toBe('{"a":[0]}')
    expect(conformed(z.json(), data)).toStrictEqual({ a: [0] })
    const loose = z.looseObject({}).transform((given) => ({ ...given, b: undefined }))
    expect(Object.keys(Object(conformed(loose, { a: 1 })))).toEqual(['a'])
  })
})

describe('an artifact type', () => {
  it('checks an edit against its schema once, unless it has words for changes', () => {
    let checks = 0
    const schema = z.object({ title: z.string().refine(() => ++checks) })
    const edits = (type: ArtifactType): number => {
      const system = { kind: 'system', name: 'system' } as const
      const data = { title: 'a' }
      checks = 0
      decide(
        {
          type: 'edit_artifact',
          artifactId: 'a1',
          baseVersion: 1,
          patch: { type: 'json_patch', ops: [{ op: 'replace', path: '/title', value: 'b' }] },
          proposalId: 'p1',
        },
        {
          artifacts: [{ id: 'a1', kind: 'counted', version: 1, data, updatedBy: system, archived: false }],
        },
        contextOf(system, { definitions: defineDomain({ artifacts: [type] }) }),
      )
      return checks
    }
    expect(edits(defineArtifact({ kind: 'counted', schema }))).toBe(1)
    expect(edits(defineArtifact({ kind: 'counted', schema, describeChange: () => '' }))).toBe(3)
  })
})
