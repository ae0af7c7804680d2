/** What a party may do, with ids that others use as well, and with what it can steal from them. */
import fc from 'fast-check'

/** Whose headers an action is sent with; the same names in both parties. */
export const actors = [
  { 'x-user': 'ada' },
  { 'x-actor-kind': 'external_agent', 'x-actor-id': 'ada' },
  { 'x-user': 'bob' },
] as const

/** One thing a party does. Numbers pick from what there is when it is done. */
export interface Action {
  readonly does: keyof typeof deeds
  readonly id: number
  readonly other: number
  readonly actor: number
  readonly text: string
  readonly commandId: number | null
  /** Whether ids, cursors and positions are the other party's. */
  readonly steals: boolean
}

const small = fc.integer({ min: 0, max: 2 })

export const action = (): fc.Arbitrary<Action> =>
  fc.record({
    does: fc.constantFrom(...names(), ...often, ...often),
    id: small,
    other: small,
    actor: small,
    text: fc.constantFrom(
      'hello',
      'alpha',
      '/ask why',
      '/approve it',
      '/note it',
      '/all x',
      '/all xy',
      '/fail',
    ),
    commandId: fc.option(small, { freq: 3 }),
    steals: fc.boolean(),
  })

const often = ['post', 'post', 'postAnew', 'node', 'list', 'createThread'] as const

const names = () => Object.keys(deeds) as (keyof typeof deeds)[]

/** Everything once, stolen where it can be: what both do at the same time in each run of a property. */
export const everything = (): Action[] =>
  names().map((does) => ({
    does,
    id: 0,
    other: 0,
    actor: 0,
    text: '/all x',
    commandId: null,
    steals: true,
  }))

/** What a party had when it began: what the other can steal. */
export interface Loot {
  readonly ids: readonly string[]
  readonly cursors: readonly string[]
  readonly runs: readonly {
    readonly runId: string
    readonly pending: readonly { readonly toolCallId: string }[]
  }[]
  readonly head: number
}

/** What turns may begin with. */
export const begins: ReadonlySet<string> = new Set(['post', 'postAnew', 'answer', 'stop'])

export type Input = Record<string, unknown>

const mutation = (name: string, input: Input, success: string) => ({
  query: `mutation ($input: ${name[0]?.toUpperCase()}${name.slice(1)}Input!) { ${name}(input: $input) { __typename ${success}
    ... on Rejection { code refusal: message } ... on ValidationFailed { issues { path message } } } }`,
  input,
})

export const query = (selection: string, variables: Input = {}, signature = '') => ({
  query: `query ($workspaceId: ID!${signature}) { workspace(workspaceId: $workspaceId) { ${selection} } }`,
  variables,
})

export type Asked =
  | ReturnType<typeof mutation>
  | ReturnType<typeof query>
  | { readonly query: string; readonly variables: Input }

const target = ({ id, other, text }: Action): Input =>
  other === 0
    ? { thread: { threadId: `t${id}` } }
    : other === 1
      ? { message: { messageId: `m${id}`, threadId: 't0' } }
      : { artifact: { artifactId: `a${id}`, version: text.length % 3 } }

const page = 'edges { cursor node { id } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }'

/** How each thing is asked for; `loot` is the other party's or the own, as the action says. */
export const deeds = {
  createThread: ({ id, text }: Action) =>
    mutation(
      'createThread',
      { threadId: `t${id}`, title: text },
      '... on CreateThreadSuccess { seq thread { id title } }',
    ),
  post: ({ id, other, text }: Action) =>
    mutation(
      'postMessage',
      { threadId: `t${other}`, messageId: `m${id}`, content: text },
      '... on PostMessageSuccess { seq posted: message { id messageId } run { id } }',
    ),
  postAnew: ({ other, text }: Action) =>
    mutation(
      'postMessage',
      { threadId: `t${other}`, content: text },
      '... on PostMessageSuccess { seq posted: message { id } run { id } }',
    ),
  createArtifact: ({ id, other, text }: Action) =>
    mutation(
      'createArtifact',
      {
        artifactId: `a${id}`,
        kind: ['note', 'checklist', 'free'][other],
        data: { title: text },
        proposalId: `p${id}`,
      },
      '... on ArtifactApplied { seq artifact { id data } } ... on ChangeProposed { seq proposal { id } }',
    ),
  edit: ({ id, other, text }: Action) =>
    mutation(
      'editArtifact',
      {
        artifactId: `a${id}`,
        baseVersion: other + 1,
        patch: { jsonPatch: [{ op: 'replace', path: '/title', value: text }] },
        proposalId: `p${other}`,
      },
      '... on ArtifactApplied { seq version artifact { id data } } ... on ChangeProposed { seq proposal { id } }',
    ),
  archive: ({ id, other }: Action) =>
    mutation(
      'archiveArtifact',
      { artifactId: `a${id}`, baseVersion: other + 1 },
      '... on ArtifactApplied { seq version }',
    ),
  propose: ({ id, other, text }: Action) =>
    mutation(
      'proposeChange',
      {
        proposalId: `p${id}`,
        change: { create: { artifactId: `a${other}`, kind: 'note', data: { title: text } } },
      },
      '... on ChangeProposed { seq proposal { id status } }',
    ),
  respond: ({ id, other }: Action) =>
    mutation(
      'respondToProposal',
      { proposalId: `p${id}`, decision: other === 0 ? 'REJECT' : 'ACCEPT' },
      '... on RespondToProposalSuccess { seq artifact { id version } proposal { status } }',
    ),
  focus: ({ id, other }: Action) =>
    mutation(
      'setThreadFocus',
      { threadId: `t${id}`, artifactIds: [`a${other}`, `a${id}`] },
      '... on SetThreadFocusSuccess { seq thread { focus { id } } }',
    ),
  mode: ({ id, other }: Action) =>
    mutation(
      'setThreadMode',
      { threadId: `t${id}`, mode: other === 0 ? 'SUGGEST' : 'EDIT' },
      '... on SetThreadModeSuccess { seq thread { mode } }',
    ),
  feedback: (action: Action) =>
    mutation(
      'giveFeedback',
      {
        feedbackType: action.other === 1 ? 'helpfulness' : 'mark',
        target: target(action),
        value: { rating: 3 },
      },
      '... on GiveFeedbackSuccess { seq }',
    ),
  record: ({ id, text }: Action) =>
    mutation(
      'recordAppEvent',
      { name: text, threadId: id === 0 ? null : `t${id}` },
      '... on RecordAppEventSuccess { seq }',
    ),
  answer: ({ text }: Action, { runs }: Loot) =>
    mutation(
      'answerDeferred',
      { runId: runs[0]?.runId ?? 'r', toolCallId: runs[0]?.pending[0]?.toolCallId ?? 'c', answer: text },
      '... on AnswerDeferredSuccess { seq resumed run { id } }',
    ),
  stop: ({ id }: Action, { runs }: Loot) =>
    mutation('stopRun', { runId: runs[id % 2]?.runId ?? 'r' }, '... on StopRunSuccess { run { id status } }'),
  list: ({ id }: Action, { cursors }: Loot) =>
    query(
      `threads(after: $after) { ${page} } artifacts(before: $after, last: 2) { ${page} } runs(first: 1, after: $after) { ${page} }`,
      { after: cursors[id % Math.max(1, cursors.length)] ?? null },
      ', $after: String',
    ),
  node: ({ id }: Action, { ids }: Loot) => ({
    query:
      'query ($ids: [ID!]!) { nodes(ids: $ids) { __typename id ... on Thread { title mode } ... on Run { status } ... on Workspace { headSeq } } node(id: "x") { id } }',
    variables: { ids: ids.slice(id, id + 3) },
  }),
  used: ({ id }: Action) => query('messageIdUsed(messageId: $id) headSeq', { id: `m${id}` }, ', $id: ID!'),
  replay: (_: Action, { head }: Loot) =>
    query(
      'events(afterSeq: $head) { seq id event { type } } changeNotes(afterSeq: $head) { artifactId text }',
      { head },
      ', $head: Seq!',
    ),
  run: ({ id }: Action, { runs }: Loot) =>
    query('run(runId: $id) { id status threadId }', { id: runs[id % 2]?.runId ?? 'r' }, ', $id: ID!'),
  watch: ({ id }: Action, { runs }: Loot) => ({
    query:
      'subscription ($workspaceId: ID!, $id: ID!) { runOutput(workspaceId: $workspaceId, runId: $id) { __typename } }',
    variables: { id: runs[id % 2]?.runId ?? 'r' },
  }),
  resume: (_: Action, { head }: Loot) => ({
    query:
      'subscription ($workspaceId: ID!) { events(workspaceId: $workspaceId) { __typename ... on Envelope { seq id workspaceId } ... on ReplayComplete { upToSeq } ... on LogReset { headSeq } } }',
    variables: {},
    lastEventId: String(head),
  }),
} satisfies Record<string, (action: Action, loot: Loot) => Asked>
