/** One conversation with the gateway on every storage there is: they never differ in an answer. */
import { beforeAll, expect, test } from 'vitest'
import { createGateway, insecureHeaderAuth, type Storage } from '../../src/index.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import { describeStorages } from '../support/storages.js'

interface Operation {
  readonly query: string
  readonly variables?: Record<string, unknown>
  readonly headers?: Record<string, string>
}

const refusals = '... on Rejection { code message } ... on ValidationFailed { issues { path message } }'

const mutation = (name: string, input: Record<string, unknown>, success = '', headers = {}): Operation => ({
  query: `mutation ($input: ${name.charAt(0).toUpperCase()}${name.slice(1)}Input!) {
    ${name}(input: $input) { __typename ${success} ${refusals} } }`,
  variables: { input: { workspaceId: 'w1', ...input } },
  headers,
})

const post = (messageId: unknown, content: unknown = 'hello', threadId: unknown = 't1') =>
  mutation(
    'postMessage',
    { threadId, messageId, content },
    '... on PostMessageSuccess { seq posted: message { id messageId content } }',
  )

const agentHeaders = { 'x-actor-kind': 'external_agent', 'x-actor-id': 'bot' }

const ids = [
  '',
  ' ',
  ' m1',
  'm1 ',
  'M1',
  '\u00e9',
  'e\u0301',
  '\u0000',
  'a\u0000b',
  '\ud800',
  '\udc00\ud800',
  'a\nb',
  '\u007f',
  '\u0080',
  '\u{1f600}'.repeat(63),
  '\u{1f600}'.repeat(64),
  'x'.repeat(255),
  'x'.repeat(256),
  'x'.repeat(3_000),
  '__proto__',
  'constructor',
  "'; DROP TABLE artifactr_events; --",
  '%',
  '\\',
]

const contents = [
  '',
  ' ',
  '\u0000',
  '\ud800',
  '\u{1f600}',
  'x'.repeat(65_536),
  'x'.repeat(65_537),
  '\n\t',
  '{"a":null}',
  '\ufeff',
]

const data = [
  { title: 'a', text: 'one two' },
  { text: 'one', title: 'a' },
  { title: 'a', unknown: 1 },
  { title: 7 },
  { title: 'a', text: '\u0000' },
  { title: 'a', text: '\ud800' },
  JSON.parse('{"title":"a","__proto__":{"x":1}}'),
  null,
  [],
]

const page = (args: string) => `{ workspace(workspaceId: "w1") { threads(${args}) {
  edges { cursor node { id threadId title } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } } } }`

const conversation: readonly Operation[] = [
  {
    query:
      '{ workspace(workspaceId: "w1") { headSeq messageIdUsed(messageId: "m1") thread(threadId: "t1") { id } } }',
  },
  post('m1'),
  ...['t1', 't2', 't1', '', '\u0000'].map((threadId) =>
    mutation(
      'createThread',
      { threadId, title: 'Plans' },
      '... on CreateThreadSuccess { seq thread { id threadId mode } }',
    ),
  ),
  post('m1'),
  post('m1'),
  post('m1', 'other', 't2'),
  post('m2', 'hello', 't9'),
  post('m2'),
  ...ids.flatMap((id) => [post(id), post(id)]),
  ...ids.map((id) => ({
    query: 'query ($id: ID!) { workspace(workspaceId: "w1") { messageIdUsed(messageId: $id) } }',
    variables: { id },
  })),
  ...ids.map((workspaceId) => ({
    ...post('m1'),
    variables: { input: { workspaceId, threadId: 't1', content: 'x' } },
  })),
  ...contents.map((content, n) => post(`c${n}`, content)),
  ...data.map((data, n) =>
    mutation(
      'createArtifact',
      { artifactId: `a${n}`, kind: 'note', data },
      '... on ArtifactApplied { seq version artifact { id data } }',
    ),
  ),
  mutation('createArtifact', { artifactId: 'x', kind: 'poem', data: {} }),
  mutation(
    'editArtifact',
    { artifactId: 'a0', baseVersion: 1, patch: { textEdits: { edits: [{ old: 'two', new: 'three' }] } } },
    '... on ArtifactApplied { seq version artifact { data revisions { edges { cursor node { version data patch { __typename } } } } } }',
  ),
  mutation('editArtifact', { artifactId: 'a0', baseVersion: 1, patch: { jsonPatch: [] } }),
  mutation('editArtifact', {
    artifactId: 'a0',
    baseVersion: 2,
    patch: { textEdits: { edits: [{ old: 'e', new: 'E' }] } },
  }),
  mutation('editArtifact', {
    artifactId: 'a0',
    baseVersion: 2,
    patch: { jsonPatch: [{ op: 'add', path: '/__proto__/x', value: 1 }] },
  }),
  mutation(
    'createArtifact',
    { artifactId: 'list', kind: 'checklist', data: { title: 'l' }, proposalId: 'p1' },
    '... on ChangeProposed { seq proposal { id status change { __typename } } }',
    agentHeaders,
  ),
  mutation('respondToProposal', { proposalId: 'p1', decision: 'ACCEPT' }, '', agentHeaders),
  mutation(
    'respondToProposal',
    {
      proposalId: 'p1',
      decision: 'ACCEPT',
      changes: { jsonPatch: [{ op: 'replace', path: '/title', value: 'L' }] },
    },
    '... on RespondToProposalSuccess { seq artifact { version data } proposal { status } }',
  ),
  mutation('respondToProposal', { proposalId: 'p1', decision: 'REJECT' }),
  mutation('giveFeedback', {
    feedbackType: 'helpfulness',
    target: { thread: { threadId: 't1' } },
    value: { rating: 5 },
  }),
  mutation('giveFeedback', {
    feedbackType: 'helpfulness',
    target: { thread: { threadId: 't9' } },
    value: { rating: 5 },
  }),
  mutation(
    'setThreadFocus',
    { threadId: 't1', artifactIds: ['a0', 'list', 'a0'] },
    '... on SetThreadFocusSuccess { seq thread { focus { artifactId } } }',
  ),
  mutation(
    'archiveArtifact',
    { artifactId: 'a0', baseVersion: 2 },
    '... on ArtifactApplied { version artifact { archived } }',
  ),
  ...[{ name: 'opened', data: { a: null } }, { name: 'opened', data: [] }, { name: 'opened' }].flatMap(
    (event) => [
      mutation('recordAppEvent', { ...event, commandId: 'c1' }, '... on RecordAppEventSuccess { seq }'),
      mutation('recordAppEvent', event, '... on RecordAppEventSuccess { seq }'),
    ],
  ),
  ...[
    'first: 1',
    'last: 1',
    'first: 0',
    'first: 200',
    'first: 201',
    'first: -1',
    'first: 1, last: 1',
    'after: "nonsense"',
    '',
  ].map((args) => ({ query: page(args === '' ? 'first: 50' : args) })),
  ...[-1, 0, 2, 1.5, 9_007_199_254_740_991, 9_007_199_254_740_992].map((afterSeq) => ({
    query:
      'query ($afterSeq: Seq) { workspace(workspaceId: "w1") { events(afterSeq: $afterSeq, first: 3) { seq event { type } } } }',
    variables: { afterSeq },
  })),
  {
    query: `{ workspace(workspaceId: "w1") { headSeq
      events(threadIds: ["t2"], last: 20) { seq threadId actor { displayName } event { __typename type } }
      artifacts(includeArchived: true) { edges { cursor node { id kind version archived data } } }
      proposals(status: null) { edges { cursor node { id status artifact { artifactId } } } }
      changeNotes(afterSeq: 0) { artifactId text action }
      thread(threadId: "t1") { messages(last: 3) { edges { cursor node { messageId content } } pageInfo { hasPreviousPage } } } } }`,
  },
]

/** What it answers, operation by operation. */
const answersOn = async (storage: Storage): Promise<unknown[]> => {
  const gateway = createGateway({ storage, resolveActor: insecureHeaderAuth })
  const answers: unknown[] = []
  for (const { query, variables, headers } of conversation) {
    const response = await gateway.fetch(
      new Request('http://gateway/graphql', {
        method: 'POST',
        headers: { 'content-type': 'application/json', ...headers },
        body: JSON.stringify({ query, variables }),
      }),
    )
    answers.push({ asked: variables ?? query, status: response.status, answer: await response.json() })
  }
  await gateway.close()
  return answers
}

let inMemory: unknown[]

beforeAll(async () => {
  inMemory = await answersOn(new MemoryStorage())
})

test('no answer is an internal error, and every operation is one of the schema', () => {
  expect(inMemory.filter((answer) => JSON.stringify(answer).includes('INTERNAL_SERVER_ERROR'))).toEqual([])
  const said = JSON.stringify(inMemory)
  expect(said).not.toContain('GRAPHQL_VALIDATION_FAILED')
  expect(said).toContain('"message":"message m1 already exists"')
})

describeStorages((newSubject) => {
  test('every answer is the one in memory', async () => {
    const { open } = await newSubject()
    expect(await answersOn(await open())).toEqual(inMemory)
  })
})
