/** Arbitrary JSON, actors, events and envelopes. */
import fc from 'fast-check'
import type { Actor } from '../../src/core/actors.js'
import type { Change } from '../../src/core/entities.js'
import type { Envelope } from '../../src/core/envelopes.js'
import type { Event, FeedbackTarget } from '../../src/core/events.js'
import { isUnsafeKey, type JsonValue } from '../../src/core/json.js'
import type { Patch } from '../../src/core/patches.js'

/** Text as may be stored. */
export const text = fc.string({ unit: 'binary', maxLength: 12 }).filter((value) => !value.includes('\u0000'))

/** Keys, among them those that code renames or trips over. */
export const key = fc
  .oneof(
    {
      weight: 3,
      arbitrary: fc.constantFrom(
        'a',
        'b',
        'c',
        '1',
        '0',
        '',
        'a/b',
        'm~n',
        '~1',
        'camelCase',
        'snake_case',
        'toString',
      ),
    },
    { weight: 1, arbitrary: text },
  )
  .filter((name) => !isUnsafeKey(name))

const leaf = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }).map((value) => (value === 0 ? 0 : value)),
  text,
)

/** JSON as may be stored: small, with keys that repeat, so that two values have something in common. */
export const json: fc.Arbitrary<JsonValue> = fc.letrec<{ value: JsonValue }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('value'), { maxLength: 5 }),
    fc.dictionary(key, tie('value'), { maxKeys: 5, noNullPrototype: true }),
  ),
})).value

const id = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'camelCase', 'snake_case', 'a1'),
  text.filter((value) => value !== ''),
)
const version = fc.integer({ min: 1, max: 1_000 })
const maybe = <Value>(arbitrary: fc.Arbitrary<Value>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

export const actor: fc.Arbitrary<Actor> = fc.oneof(
  fc.record({ kind: fc.constant('user' as const), id: idOf('u'), name: maybe(fc.constant('Ada')) }),
  fc.record({
    kind: fc.constant('agent' as const),
    threadId: idOf('t'),
    runId: maybe(idOf('r')),
    name: fc.constant('assistant'),
  }),
  fc.record({
    kind: fc.constant('external_agent' as const),
    clientId: idOf('c'),
    name: maybe(fc.constant('Claude')),
  }),
  fc.record({ kind: fc.constant('system' as const), name: fc.constant('system') }),
  fc.record({
    kind: fc.constant('evaluator' as const),
    name: fc.constant('judge'),
    version: fc.constant('1'),
  }),
)

/** A valid id. */
function idOf(prefix: string): fc.Arbitrary<string> {
  return fc.constantFrom(`${prefix}1`, `${prefix}_2`, `${prefix}CamelCase`, '__proto__', 'constructor')
}

const patch: fc.Arbitrary<Patch> = fc.oneof(
  fc.record({ type: fc.constant('json_patch' as const), ops: fc.array(json, { maxLength: 3 }) }),
  fc.record({
    type: fc.constant('text_edits' as const),
    field: key,
    edits: fc.array(fc.record({ old: text, new: text }), { maxLength: 3 }),
  }),
)

const change: fc.Arbitrary<Change> = fc.oneof(
  fc.record({ type: fc.constant('create' as const), artifactId: id, kind: text, data: json }),
  fc.record({
    type: fc.constant('edit' as const),
    artifactId: id,
    baseVersion: version,
    patch,
    summary: text,
  }),
  fc.record({ type: fc.constant('archive' as const), artifactId: id, baseVersion: version }),
)

const target: fc.Arbitrary<FeedbackTarget> = fc.oneof(
  fc.record({ type: fc.constant('artifact' as const), artifactId: id, version }),
  fc.record({ type: fc.constant('thread' as const), threadId: id }),
  fc.record({ type: fc.constant('turn' as const), runId: id }),
  fc.record({ type: fc.constant('message' as const), messageId: id, threadId: id, runId: maybe(id) }),
)

const request = fc.record({
  toolCallId: id,
  toolName: text,
  kind: fc.constantFrom('question' as const, 'approval' as const),
  args: json,
})

const count = fc.nat()

/** One arbitrary for each type of event: a type that is added has to be added here. */
const eventsByType: { readonly [Type in Event['type']]: fc.Arbitrary<Extract<Event, { type: Type }>> } = {
  thread_created: fc.record({ type: fc.constant('thread_created'), threadId: id, title: text }),
  thread_mode_changed: fc.record({
    type: fc.constant('thread_mode_changed'),
    threadId: id,
    mode: fc.constantFrom('edit', 'suggest'),
  }),
  focus_changed: fc.record({ type: fc.constant('focus_changed'), threadId: id, artifactIds: fc.array(id) }),
  message_posted: fc.record({
    type: fc.constant('message_posted'),
    threadId: id,
    messageId: id,
    content: text,
    kind: fc.constantFrom('message', 'notice'),
    runId: maybe(id),
  }),
  artifact_created: fc.record({
    type: fc.constant('artifact_created'),
    artifactId: id,
    kind: text,
    version,
    data: json,
    proposalId: maybe(id),
  }),
  artifact_changed: fc.record({
    type: fc.constant('artifact_changed'),
    artifactId: id,
    kind: text,
    version,
    patch,
    summary: text,
    proposalId: maybe(id),
  }),
  artifact_archived: fc.record({
    type: fc.constant('artifact_archived'),
    artifactId: id,
    kind: text,
    version,
    proposalId: maybe(id),
  }),
  proposal_created: fc.record({
    type: fc.constant('proposal_created'),
    proposalId: id,
    change,
    rationale: maybe(text),
  }),
  proposal_resolved: fc.record({
    type: fc.constant('proposal_resolved'),
    proposalId: id,
    decision: fc.constantFrom('accept', 'reject'),
    proposedBy: actor,
    artifactId: id,
    changes: maybe(patch),
    reason: maybe(text),
    version: maybe(version),
  }),
  run_started: fc.record({
    type: fc.constant('run_started'),
    runId: id,
    threadId: id,
    trigger: fc.constantFrom('message', 'resume', 'api'),
    traceId: maybe(text),
  }),
  tool_called: fc.record({
    type: fc.constant('tool_called'),
    runId: id,
    threadId: id,
    toolCallId: id,
    toolName: text,
    argsSummary: text,
  }),
  tool_returned: fc.record({
    type: fc.constant('tool_returned'),
    runId: id,
    threadId: id,
    toolCallId: id,
    status: fc.constantFrom('ok', 'error', 'retry'),
    summary: text,
  }),
  run_paused: fc.record({
    type: fc.constant('run_paused'),
    runId: id,
    threadId: id,
    requests: fc.array(request, { maxLength: 3 }),
  }),
  deferred_answered: fc.record({
    type: fc.constant('deferred_answered'),
    runId: id,
    threadId: id,
    toolCallId: id,
    answer: maybe(json),
    approved: maybe(fc.boolean()),
  }),
  run_ended: fc.record({
    type: fc.constant('run_ended'),
    runId: id,
    threadId: id,
    status: fc.constantFrom('completed', 'stopped', 'failed'),
    usage: maybe(fc.record({ requests: count, inputTokens: count, outputTokens: count })),
    error: maybe(text),
    reason: maybe(text),
  }),
  feedback_given: fc.record({ type: fc.constant('feedback_given'), feedbackType: text, target, value: json }),
  app_event: fc.record({ type: fc.constant('app_event'), name: text, data: maybe(json) }),
}

const event: fc.Arbitrary<Event> = fc.oneof(...Object.values(eventsByType))

export const envelope: fc.Arbitrary<Envelope> = fc.record({
  seq: fc.nat(),
  id,
  ts: fc.constant('2026-10-01T09:30:00.000Z'),
  workspaceId: id,
  threadId: maybe(id),
  runId: maybe(id),
  actor,
  traceparent: maybe(text),
  event,
})
