/** Who acts (domain §3). */
import { describe, expect, it } from 'vitest'
import { type Actor, actorSchema, displayName, isAgent, participantKey } from '../../src/core/actors.js'

describe('a participant', () => {
  it.each<[Actor, string, string]>([
    [{ kind: 'user', id: 'u1', name: 'Ada' }, 'user:u1', 'Ada'],
    [{ kind: 'user', id: 'u1' }, 'user:u1', 'u1'],
    [{ kind: 'agent', threadId: 't1', runId: 'r1', name: 'assistant' }, 'agent:t1', 'assistant'],
    [{ kind: 'agent', threadId: 't1', runId: 'r2', name: 'helper' }, 'agent:t1', 'helper'],
    [{ kind: 'external_agent', clientId: 'c1', name: 'Claude' }, 'external_agent:c1', 'Claude'],
    [{ kind: 'external_agent', clientId: 'c1' }, 'external_agent:c1', 'c1'],
    [{ kind: 'system', name: 'importer' }, 'system:importer', 'importer'],
    [{ kind: 'evaluator', name: 'judge', version: '2' }, 'evaluator:judge', 'judge'],
  ])('%j has the key %s and the name %s', (actor, key, name) => {
    expect(participantKey(actor)).toBe(key)
    expect(displayName(actor)).toBe(name)
  })

  it('is an agent when write policies bind it', () => {
    const kinds = (['user', 'agent', 'external_agent', 'system', 'evaluator'] as const).filter((kind) =>
      isAgent(actorSchema.parse({ kind, id: 'x', threadId: 'x', clientId: 'x', name: 'x', version: '1' })),
    )
    expect(kinds).toEqual(['agent', 'external_agent'])
  })

  it('is called assistant or system when it has no other name', () => {
    expect(actorSchema.parse({ kind: 'agent', threadId: 't1' })).toMatchObject({ name: 'assistant' })
    expect(actorSchema.parse({ kind: 'system' })).toMatchObject({ name: 'system' })
  })

  it('has a valid id and a name that is not empty', () => {
    expect(actorSchema.safeParse({ kind: 'user', id: 'a\u0000' }).success).toBe(false)
    expect(actorSchema.safeParse({ kind: 'user', id: 'u1', name: '' }).success).toBe(false)
    expect(actorSchema.safeParse({ kind: 'robot', id: 'u1' }).success).toBe(false)
  })
})
