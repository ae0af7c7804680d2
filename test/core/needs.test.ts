/** The host contract (domain §4, ADR-0045): what is asked for, in which round, and what happens to a host that does not load it. */
import { describe, expect, it } from 'vitest'
import type { Actor } from '../../src/core/actors.js'
import type { Item } from '../../src/core/commit.js'
import type { Proposal } from '../../src/core/entities.js'
import {
  emptyState,
  entityKinds,
  isEmpty,
  mergeStates,
  missing,
  NotLoaded,
  noNeeds,
} from '../../src/core/state.js'
import { contextOf, decideWith, load } from './host.js'

const ada: Actor = { kind: 'user', id: 'u1' }
const agent: Actor = { kind: 'agent', threadId: 't1', runId: 'r1', name: 'assistant' }

const rounds = (item: Item, actor: Actor, proposals: readonly Proposal[] = []) =>
  load(item, { proposals }, contextOf(actor)).rounds

const archive = { artifactId: 'a1', baseVersion: 1 }

describe('needs', () => {
  it.each<[string, Item, Actor, object]>([
    ['a new thread', { type: 'create_thread', threadId: 't1' }, ada, { threads: ['t1'] }],
    [
      'a message',
      { type: 'post_message', threadId: 't1', messageId: 'm1', content: 'Hi' },
      ada,
      { threads: ['t1'], messages: ['m1'] },
    ],
    [
      'a focus',
      { type: 'set_focus', threadId: 't1', artifactIds: ['a1', 'a2', 'a1'] },
      ada,
      { threads: ['t1'], artifacts: ['a1', 'a2'] },
    ],
    ['a mode', { type: 'set_thread_mode', threadId: 't1', mode: 'edit' }, ada, { threads: ['t1'] }],
    [
      'a change',
      { type: 'archive_artifact', ...archive, proposalId: 'p1' },
      ada,
      { artifacts: ['a1'], proposals: ['p1'] },
    ],
    [
      'a change from a thread',
      { type: 'archive_artifact', ...archive, proposalId: 'p1', threadId: 't2' },
      agent,
      { artifacts: ['a1'], proposals: ['p1'], threads: ['t2'] },
    ],
    [
      "an agent's change",
      { type: 'archive_artifact', ...archive, proposalId: 'p1' },
      agent,
      { artifacts: ['a1'], proposals: ['p1'], threads: ['t1'] },
    ],
    [
      "an agent's proposal",
      { type: 'propose_change', proposalId: 'p1', change: { type: 'archive', ...archive } },
      agent,
      { artifacts: ['a1'], proposals: ['p1'], threads: ['t1'] },
    ],
    [
      'an answer',
      { type: 'answer_deferred', runId: 'r1', toolCallId: 'c1', answer: 1 },
      ada,
      { runs: ['r1'] },
    ],
    [
      'feedback on a message and its run',
      {
        type: 'give_feedback',
        feedbackType: 'helpfulness',
        target: { type: 'message', messageId: 'm1', threadId: 't1', runId: 'r1' },
        value: { rating: 1 },
      },
      ada,
      { messages: ['m1'], threads: ['t1'], runs: ['r1'] },
    ],
    [
      'the start of a run',
      { type: 'run_started', runId: 'r1', threadId: 't1', trigger: 'message' },
      agent,
      { runs: ['r1'], threads: ['t1'] },
    ],
    ['the end of a run', { type: 'run_ended', runId: 'r1', status: 'completed' }, agent, { runs: ['r1'] }],
    ["an application's event", { type: 'app_event', name: 'x', threadId: 't1' }, ada, { threads: ['t1'] }],
  ])('of %s are asked for in one round', (_, item, actor, expected) => {
    expect(rounds(item, actor)).toEqual([{ ...noNeeds, ...expected }])
  })

  it("of an application's event without a thread are none", () => {
    expect(rounds({ type: 'app_event', name: 'x' }, ada)).toEqual([])
  })

  it('of a decision name the proposal first, then its artifact', () => {
    const change = { type: 'archive', ...archive } as const
    const proposal: Proposal = { id: 'p1', artifactId: 'a1', change, proposedBy: agent, status: 'pending' }
    const decision: Item = { type: 'respond_to_proposal', proposalId: 'p1', decision: 'accept' }
    expect(rounds(decision, ada, [proposal])).toEqual([
      { ...noNeeds, proposals: ['p1'] },
      { ...noNeeds, artifacts: ['a1'] },
    ])
    expect(rounds(decision, ada)).toEqual([{ ...noNeeds, proposals: ['p1'] }])
  })
})

describe('a host that does not load what needs asks for', () => {
  it.each<[string, Item]>([
    ['threads "t1"', { type: 'create_thread', threadId: 't1' }],
    ['proposals "p1"', { type: 'respond_to_proposal', proposalId: 'p1', decision: 'accept' }],
    ['runs "r1"', { type: 'answer_deferred', runId: 'r1', toolCallId: 'c1', answer: 1 }],
    ['artifacts "a1"', { type: 'archive_artifact', ...archive, proposalId: 'p1' }],
  ])('is told so: %s', (what, item) => {
    expect(() => decideWith(item, emptyState, contextOf(ada))).toThrow(`${what} was not loaded`)
  })

  it('of messages is told on the first post, and no message is recorded (ADR-0045)', () => {
    const post: Item = { type: 'post_message', threadId: 't1', messageId: 'm1', content: 'Hi' }
    const thread = { id: 't1', title: '', mode: 'edit', focus: [] } as const
    const state = { ...emptyState, threads: new Map([['t1', { ...thread, focus: [] }]]) }
    expect(() => decideWith(post, state, contextOf(ada))).toThrow(NotLoaded)
  })
})

describe('states', () => {
  it('know what is missing, each id once, and not what was looked up and does not exist', () => {
    const state = { ...emptyState, threads: new Map([['t1', null]]) }
    expect(missing({ threads: ['t1', 't2', 't2'], runs: [] }, state)).toEqual({ ...noNeeds, threads: ['t2'] })
    expect(isEmpty(missing({ threads: ['t1'] }, state))).toBe(true)
  })

  it('merge, the later load counting', () => {
    const earlier = { ...emptyState, messages: new Map([['m1', false]]), threads: new Map([['t1', null]]) }
    const merged = mergeStates(earlier, { ...emptyState, messages: new Map([['m1', true]]) })
    expect(merged.messages.get('m1')).toBe(true)
    expect(merged.threads.has('t1')).toBe(true)
    expect(Object.keys(merged).sort()).toEqual([...entityKinds].sort())
  })
})
