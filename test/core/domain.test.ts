/** The built-in types, and the domain that an application's definitions make. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { defineArtifact } from '../../src/core/artifacts.js'
import { checklist, helpfulness, note } from '../../src/core/builtin.js'
import { defaultDefinitions, defineDomain } from '../../src/core/context.js'
import { ValidationFailed } from '../../src/core/rejections.js'

describe('the built-in types', () => {
  it('take what the documentation says', () => {
    expect(note.parse({ title: 'Plan' })).toEqual({ title: 'Plan', text: '' })
    expect(checklist.parse({ title: 'L', items: { a: { title: 'B' } } })).toEqual({
      title: 'L',
      items: { a: { title: 'B', done: false } },
    })
    expect(checklist.parse({ title: 'L' })).toEqual({ title: 'L', items: {} })
    expect(helpfulness.parse({ rating: 1 })).toEqual({ rating: 1 })
    expect(helpfulness.targets).toEqual(['turn', 'thread', 'message'])
  })

  it('give each checklist items of its own', () => {
    expect(checklist.parse({ title: 'L' })).not.toBe(checklist.parse({ title: 'L' }))
    expect(() => checklist.parse({ title: 'L', items: { '': { title: 'B' } } })).toThrow(ValidationFailed)
  })
})

describe('a domain', () => {
  it('has the built-in types by default', () => {
    expect([...defaultDefinitions.artifactTypes.keys()]).toEqual(['note', 'checklist'])
    expect([...defaultDefinitions.feedbackTypes.keys()]).toEqual(['helpfulness'])
    expect(defaultDefinitions.maxMessageLength).toBe(65_536)
    expect(defaultDefinitions.maxArtifactSize).toBe(1_048_576)
  })

  it('may be empty', () => {
    expect(defineDomain().artifactTypes.size).toBe(0)
  })

  it('allows all types it defines, or those it lists', () => {
    const artifacts = [note, checklist]
    expect([...defineDomain({ artifacts }).artifactTypes.keys()]).toEqual(['note', 'checklist'])
    expect([...defineDomain({ artifacts, allowedArtifacts: ['checklist'] }).artifactTypes.keys()]).toEqual([
      'checklist',
    ])
    expect(defineDomain({ artifacts, allowedArtifacts: [] }).artifactTypes.size).toBe(0)
  })

  it('refuses two definitions of one name, and an allowed type that is not defined', () => {
    expect(() => defineDomain({ artifacts: [note, note] })).toThrow('artifact type note is defined twice')
    expect(() => defineDomain({ feedback: [helpfulness, helpfulness] })).toThrow(
      'feedback type helpfulness is defined twice',
    )
    expect(() => defineDomain({ artifacts: [note], allowedArtifacts: ['note', 'poem'] })).toThrow(
      'artifact type poem is allowed, but not defined',
    )
  })

  it('may define types named like members of objects', () => {
    const type = defineArtifact({ kind: '__proto__', schema: z.object({}) })
    expect(defineDomain({ artifacts: [type] }).artifactTypes.get('__proto__')).toBe(type)
    expect(defaultDefinitions.artifactTypes.get('constructor')).toBeUndefined()
  })
})
