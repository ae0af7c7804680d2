/** No text is longer than a message may be. */
import { describe, expect, it } from 'vitest'
import type { CommandInput } from '../../src/core/commands.js'
import { defaultDefinitions } from '../../src/core/context.js'
import type { FactInput } from '../../src/core/facts.js'
import { ValidationFailed } from '../../src/core/rejections.js'
import { emptyState } from '../../src/core/state.js'
import { decideWith } from './host.js'

const definitions = { ...defaultDefinitions, maxMessageLength: 10 }
const actor = { kind: 'user', id: 'u' } as const
const long = 'x'.repeat(11)

const issuesOf = (item: CommandInput | FactInput) => {
  try {
    decideWith(item, emptyState, { actor, definitions })
  } catch (error) {
    if (error instanceof ValidationFailed) return error.issues
  }
  return null
}

describe('a text that is longer than a message may be is refused by its name', () => {
  it.each<[string, CommandInput | FactInput]>([
    ['title', { type: 'create_thread', threadId: 't', title: long }],
    ['content', { type: 'post_message', threadId: 't', messageId: 'm', content: long }],
    [
      'summary',
      {
        type: 'edit_artifact',
        artifactId: 'a',
        baseVersion: 1,
        patch: { type: 'json_patch', ops: [] },
        summary: long,
        proposalId: 'p',
      },
    ],
    [
      'rationale',
      {
        type: 'propose_change',
        proposalId: 'p',
        change: { type: 'archive', artifactId: 'a', baseVersion: 1 },
        rationale: long,
      },
    ],
    ['reason', { type: 'respond_to_proposal', proposalId: 'p', decision: 'reject', reason: long }],
    ['name', { type: 'app_event', name: long }],
  ])('%s', (field, item) => {
    expect(issuesOf(item)).toEqual([{ path: [field], message: 'must have at most 10 UTF-16 units' }])
  })

  it('the summary of a change that is proposed', () => {
    const patch = { type: 'json_patch' as const, ops: [] }
    const change = { type: 'edit', artifactId: 'a', baseVersion: 1, patch, summary: long } as const
    expect(issuesOf({ type: 'propose_change', proposalId: 'p', change })).toEqual([
      { path: ['change', 'summary'], message: 'must have at most 10 UTF-16 units' },
    ])
  })
})
