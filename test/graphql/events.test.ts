import { describe, expect, it } from 'vitest'
import { eventTypes } from '../../src/core/events.js'
import type { Patch } from '../../src/core/patches.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import type { NewEnvelope } from '../../src/storage/port.js'
import { at, gateway } from './gateway.js'

const ada = { kind: 'user', id: 'ada' } as const
const patch: Patch = { type: 'text_edits', field: 'text', edits: [{ old: 'a', new: 'b' }] }
const request = { toolCallId: 'q', toolName: 'ask', kind: 'question', args: { q: 1 } } as const
const run = { runId: 'r1', threadId: 't1' }

/** One event of each type as it is stored, the GraphQL type it has, and its own fields as they are asked for and answered. */
const samples: [NewEnvelope['event'], string, string, Record<string, unknown>][] = [
  [
    { type: 'thread_created', threadId: 't1', title: 'T' },
    'ThreadCreatedEvent',
    'threadId title',
    { threadId: 't1', title: 'T' },
  ],
  [
    { type: 'thread_mode_changed', threadId: 't1', mode: 'suggest' },
    'ThreadModeChangedEvent',
    'threadId mode',
    { threadId: 't1', mode: 'SUGGEST' },
  ],
  [
    { type: 'focus_changed', threadId: 't1', artifactIds: ['a'] },
    'FocusChangedEvent',
    'threadId artifactIds',
    { threadId: 't1', artifactIds: ['a'] },
  ],
  [
    { type: 'message_posted', threadId: 't1', messageId: 'm1', content: 'Hi', kind: 'notice' },
    'MessagePostedEvent',
    'threadId messageId content messageKind: kind runId',
    { threadId: 't1', messageId: 'm1', content: 'Hi', messageKind: 'NOTICE', runId: null },
  ],
  [
    {
      type: 'artifact_created',
      artifactId: 'a',
      kind: 'note',
      version: 1,
      data: { b: 1, a: null },
      proposalId: 'p',
    },
    'ArtifactCreatedEvent',
    'artifactId kind version data proposalId',
    { artifactId: 'a', kind: 'note', version: 1, data: { b: 1, a: null }, proposalId: 'p' },
  ],
  [
    { type: 'artifact_changed', artifactId: 'a', kind: 'note', version: 2, patch, summary: 's' },
    'ArtifactChangedEvent',
    'artifactId kind version summary proposalId patch { __typename ... on TextEdits { field edits { old new } } }',
    {
      artifactId: 'a',
      kind: 'note',
      version: 2,
      summary: 's',
      proposalId: null,
      patch: { __typename: 'TextEdits', field: 'text', edits: [{ old: 'a', new: 'b' }] },
    },
  ],
  [
    { type: 'artifact_archived', artifactId: 'a', kind: 'note', version: 3 },
    'ArtifactArchivedEvent',
    'artifactId kind version proposalId',
    { artifactId: 'a', kind: 'note', version: 3, proposalId: null },
  ],
  [
    {
      type: 'proposal_created',
      proposalId: 'p',
      change: { type: 'archive', artifactId: 'a', baseVersion: 2 },
      rationale: 'why',
    },
    'ProposalCreatedEvent',
    'proposalId rationale change { __typename ... on ArchiveArtifactChange { artifactId baseVersion } }',
    {
      proposalId: 'p',
      rationale: 'why',
      change: { __typename: 'ArchiveArtifactChange', artifactId: 'a', baseVersion: 2 },
    },
  ],
  [
    {
      type: 'proposal_resolved',
      proposalId: 'p',
      decision: 'accept',
      proposedBy: ada,
      artifactId: 'a',
      changes: { type: 'json_patch', ops: [{ op: 'remove', path: '/x' }] },
      version: 2,
    },
    'ProposalResolvedEvent',
    'proposalId decision artifactId reason resolvedVersion: version proposedBy { displayName } changes { ... on JsonPatch { ops } }',
    {
      proposalId: 'p',
      decision: 'ACCEPT',
      artifactId: 'a',
      reason: null,
      resolvedVersion: 2,
      proposedBy: { displayName: 'ada' },
      changes: { ops: [{ op: 'remove', path: '/x' }] },
    },
  ],
  [
    { type: 'run_started', ...run, trigger: 'message', traceId: 'tr' },
    'RunStartedEvent',
    'runId threadId trigger traceId',
    { ...run, trigger: 'MESSAGE', traceId: 'tr' },
  ],
  [
    { type: 'tool_called', ...run, toolCallId: 'c', toolName: 'n', argsSummary: 's' },
    'ToolCalledEvent',
    'runId threadId toolCallId toolName argsSummary',
    { ...run, toolCallId: 'c', toolName: 'n', argsSummary: 's' },
  ],
  [
    { type: 'tool_returned', ...run, toolCallId: 'c', status: 'retry', summary: 's' },
    'ToolReturnedEvent',
    'runId threadId toolCallId toolStatus: status summary',
    { ...run, toolCallId: 'c', toolStatus: 'RETRY', summary: 's' },
  ],
  [
    { type: 'run_paused', ...run, requests: [request] },
    'RunPausedEvent',
    'runId threadId requests { toolCallId toolName kind args answered }',
    { ...run, requests: [{ ...request, kind: 'QUESTION', answered: false }] },
  ],
  [
    { type: 'deferred_answered', ...run, toolCallId: 'q', answer: [] },
    'DeferredAnsweredEvent',
    'runId threadId toolCallId answer approved',
    { ...run, toolCallId: 'q', answer: [], approved: null },
  ],
  [
    {
      type: 'run_ended',
      ...run,
      status: 'failed',
      usage: { requests: 1, inputTokens: 2, outputTokens: 3 },
      error: 'e',
    },
    'RunEndedEvent',
    'runId threadId runStatus: status usage { requests inputTokens outputTokens } error reason',
    {
      ...run,
      runStatus: 'FAILED',
      usage: { requests: 1, inputTokens: 2, outputTokens: 3 },
      error: 'e',
      reason: null,
    },
  ],
  [
    {
      type: 'feedback_given',
      feedbackType: 'f',
      target: { type: 'message', messageId: 'm1', threadId: 't1' },
      value: '',
    },
    'FeedbackGivenEvent',
    'feedbackType value target { __typename ... on MessageTarget { messageId threadId runId } }',
    {
      feedbackType: 'f',
      value: '',
      target: { __typename: 'MessageTarget', messageId: 'm1', threadId: 't1', runId: null },
    },
  ],
  [
    { type: 'app_event', name: 'n', data: null },
    'AppEvent',
    'name appData: data',
    { name: 'n', appData: null },
  ],
  [
    { type: 'teleported', unknown: true, data: { type: 'teleported', to_place: 'Mars' } },
    'UnknownEvent',
    'stored: data',
    { stored: { type: 'teleported', to_place: 'Mars' } },
  ],
]

/** As an older or newer version of the gateway may have left it. */
const store = async (storage: MemoryStorage, event: NewEnvelope['event']) => {
  const nothing = { artifacts: [], revisions: [], proposals: [], threads: [], runs: [], messages: [] }
  await storage.transaction({ tenantId: 'acme', workspaceId: 'w1' }, (transaction) =>
    transaction.save({
      ...nothing,
      events: [
        {
          id: 'e1',
          ts: '2026-01-02T03:04:05.678Z',
          actor: ada,
          event: 'unknown' in event ? stored(event.data) : event,
        },
      ],
    }),
  )
}

/** An unknown event is stored as it came: only reading makes an `UnknownEvent` of it. */
const stored = (data: unknown): NewEnvelope['event'] => JSON.parse(JSON.stringify(data))

describe('an event', () => {
  for (const [event, typename, fields, expected] of samples) {
    it(`of the stored type ${event.type} is a ${typename}`, async () => {
      const storage = new MemoryStorage()
      await store(storage, event)
      const data = await gateway({ storage }).run(
        `{ workspace(workspaceId: "w1") { events { ts event { __typename type ... on ${typename} { ${fields} } } } } }`,
      )
      expect(at(data, 'workspace', 'events')).toEqual([
        { ts: '2026-01-02T03:04:05.678Z', event: { __typename: typename, type: event.type, ...expected } },
      ])
    })
  }

  it('shows JSON null where it is the value', async () => {
    const storage = new MemoryStorage()
    await store(storage, {
      type: 'feedback_given',
      feedbackType: 'f',
      target: { type: 'thread', threadId: 't1' },
      value: null,
    })
    const data = await gateway({ storage }).run(
      '{ workspace(workspaceId: "w1") { events { event { ... on FeedbackGivenEvent { value } } } } }',
    )
    expect(at(data, 'workspace', 'events')).toEqual([{ event: { value: null } }])
  })

  it('of every type that core knows is tried here', () => {
    const tried = samples.map(([{ type }]) => type)
    expect(eventTypes.filter((type) => !tried.includes(type))).toEqual([])
  })
})
