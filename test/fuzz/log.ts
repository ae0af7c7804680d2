/** What the log of a workspace says against what queries say of it, once nothing is under way any more. */
import { isDeepStrictEqual } from 'node:util'
import { applyPatch, type Operation as PatchOperation } from 'rfc6902'
import type { Scope, Storage } from '../../src/storage/port.js'
import { until } from '../support/gateway.js'

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
type Answered = any

/** Asks as somebody of the tenant, and gets the data. */
export type Ask = (query: string, variables: Record<string, unknown>) => Promise<Answered>

const EVENT_FIELDS = `__typename type
  ... on ThreadCreatedEvent { threadId title }
  ... on ThreadModeChangedEvent { threadId mode }
  ... on FocusChangedEvent { threadId artifactIds }
  ... on MessagePostedEvent { threadId messageId content messageKind: kind }
  ... on ArtifactCreatedEvent { artifactId kind version data }
  ... on ArtifactChangedEvent { artifactId version patch { __typename ... on JsonPatch { ops } ... on TextEdits { field edits { old new } } } }
  ... on ArtifactArchivedEvent { artifactId version }
  ... on ProposalCreatedEvent { proposalId }
  ... on ProposalResolvedEvent { proposalId decision }
  ... on RunStartedEvent { runId threadId trigger }
  ... on RunPausedEvent { runId }
  ... on RunEndedEvent { runId runStatus: status }`

const EVENTS = `query ($workspaceId: ID!, $afterSeq: Seq) { workspace(workspaceId: $workspaceId) {
  headSeq events(afterSeq: $afterSeq, first: 200) { seq id workspaceId event { ${EVENT_FIELDS} } } } }`

const HEAD = 'query ($workspaceId: ID!) { workspace(workspaceId: $workspaceId) { headSeq } }'

/**
 * Whether no turn is owed anywhere, and none under way in these workspaces. Asked in this order: what is owed no more is under way by then.
 * What waits for its turn is no run yet, and a run that has all its answers is owed its turn.
 */
export const isIdle = async (storage: Storage, scopes: readonly Scope[]): Promise<boolean> => {
  if ((await storage.owedThreads(1)).length > 0) return false
  const running = scopes.map((scope) =>
    storage.runs(scope, { statuses: ['running'] }, { limit: 1, from: 'start' }),
  )
  return (await Promise.all(running)).every(({ entries }) => entries.length === 0)
}

const eventsOf = async (ask: Ask, workspaceId: string): Promise<Answered[]> => {
  const events: Answered[] = []
  for (;;) {
    const { workspace } = await ask(EVENTS, { workspaceId, afterSeq: events.length })
    events.push(...workspace.events)
    if (workspace.events.length === 0) return events
  }
}

const pageInfo = 'pageInfo { hasNextPage endCursor }'

/** Every node of a connection of the workspace, page by page. */
const nodesOf = async (
  ask: Ask,
  workspaceId: string,
  list: string,
  args: string,
  node: string,
): Promise<Answered[]> => {
  const query = `query ($workspaceId: ID!, $after: String) { workspace(workspaceId: $workspaceId) {
    list: ${list}(${args} after: $after) { edges { node { ${node} } } ${pageInfo} } } }`
  const nodes: Answered[] = []
  for (let after: string | null = null; ; ) {
    const { list: page }: Answered = (await ask(query, { workspaceId, after })).workspace
    nodes.push(...page.edges.map((edge: Answered) => edge.node))
    if (!page.pageInfo.hasNextPage) return nodes
    after = page.pageInfo.endCursor
  }
}

/** What the events of a log come to. */
const replayed = (events: readonly Answered[]) => {
  const threads = new Map<string, Answered>()
  const artifacts = new Map<string, Answered>()
  const proposals = new Map<string, string>()
  const runs = new Map<string, string>()
  const messages = new Map<string, string>()
  const problems: string[] = []
  const change = (event: Answered, changed: object): void => {
    const artifact = artifacts.get(event.artifactId)
    if (event.version !== (artifact?.version ?? 0) + 1)
      problems.push(
        `artifact ${event.artifactId} came to version ${event.version} after ${artifact?.version}`,
      )
    artifacts.set(event.artifactId, { ...artifact, ...changed, version: event.version })
  }
  for (const { event } of events) {
    switch (event.type) {
      case 'thread_created':
        threads.set(event.threadId, { title: event.title, mode: 'EDIT', focus: [], messages: [] })
        break
      case 'thread_mode_changed':
        threads.get(event.threadId).mode = event.mode
        break
      case 'focus_changed':
        threads.get(event.threadId).focus = event.artifactIds
        break
      case 'message_posted':
        if (messages.has(event.messageId)) problems.push(`message ${event.messageId} is there twice`)
        messages.set(event.messageId, event.threadId)
        threads.get(event.threadId).messages.push(event.messageId)
        break
      case 'artifact_created':
        change(event, { kind: event.kind, data: event.data, archived: false })
        break
      case 'artifact_changed':
        change(event, { data: patched(artifacts.get(event.artifactId)?.data, event.patch) })
        break
      case 'artifact_archived':
        change(event, { archived: true })
        break
      case 'proposal_created':
        proposals.set(event.proposalId, 'PENDING')
        break
      case 'proposal_resolved':
        proposals.set(event.proposalId, event.decision === 'ACCEPT' ? 'ACCEPTED' : 'REJECTED')
        break
      case 'run_started':
        runs.set(event.runId, 'RUNNING')
        break
      case 'run_paused':
        runs.set(event.runId, 'PAUSED')
        break
      case 'run_ended':
        runs.set(event.runId, event.runStatus)
        break
    }
  }
  return { threads, artifacts, proposals, runs, problems }
}

const patched = (data: Answered, patch: Answered): Answered => {
  const copy = structuredClone(data)
  if (patch.__typename === 'JsonPatch') {
    const whole = { data: copy }
    const ops = patch.ops.map(
      (op: Answered): PatchOperation => ({
        ...op,
        path: `/data${op.path}`,
        ...(op.from !== undefined && { from: `/data${op.from}` }),
      }),
    )
    const failed = applyPatch(whole, ops).filter((error) => error !== null)
    return failed.length > 0 ? `cannot be patched: ${failed}` : whole.data
  }
  for (const { old, new: text } of patch.edits)
    copy[patch.field] = old === '' ? text : copy[patch.field].replace(old, () => text)
  return copy
}

/** Everything that does not fit. */
export const logProblems = async (ask: Ask, storage: Storage, scope: Scope): Promise<string[]> => {
  const { workspaceId } = scope
  await until(30_000, `${workspaceId} to be idle`, async () => (await isIdle(storage, [scope])) || null)
  const events = await eventsOf(ask, workspaceId)
  const { workspace } = await ask(HEAD, { workspaceId })
  const { threads, artifacts, proposals, runs, problems } = replayed(events)
  const same = (what: string, logged: unknown, told: unknown): void => {
    if (isDeepStrictEqual(logged, told)) return
    problems.push(
      `${what}: the log says ${JSON.stringify(logged)?.slice(0, 500)}, queries say ${JSON.stringify(told)?.slice(0, 500)}`,
    )
  }
  same('the head', events.length, workspace.headSeq)
  same(
    'places',
    events.map((_, index) => index + 1),
    events.map(({ seq }) => seq),
  )
  same('ids', events.length, new Set(events.map(({ id }) => id)).size)
  same(
    'workspaces',
    [],
    events.filter((envelope) => envelope.workspaceId !== workspaceId),
  )
  same(
    'runs that are running',
    [],
    [...runs].filter(([, status]) => status === 'RUNNING'),
  )

  const nodes = (list: string, args: string, node: string) => nodesOf(ask, workspaceId, list, args, node)
  const toldThreads = await nodes('threads', 'first: 50', 'threadId title mode focus { artifactId }')
  same(
    'threads',
    [...threads.keys()],
    toldThreads.map(({ threadId }) => threadId),
  )
  for (const { threadId, title, mode, focus } of toldThreads) {
    const logged = threads.get(threadId)
    same(
      `thread ${threadId}`,
      [logged?.title, logged?.mode, logged?.focus],
      [title, mode, focus.map((artifact: Answered) => artifact.artifactId)],
    )
    const messages = await messagesOf(ask, workspaceId, threadId)
    same(`messages of ${threadId}`, logged?.messages, messages)
  }
  const revisions = 'revisions(last: 50) { edges { node { version data } } }'
  const toldArtifacts = await nodes(
    'artifacts',
    'includeArchived: true, first: 5,',
    `artifactId kind version data archived ${revisions}`,
  )
  same(
    'artifacts',
    [...artifacts.keys()],
    toldArtifacts.map(({ artifactId }) => artifactId),
  )
  for (const { artifactId, revisions, ...told } of toldArtifacts) {
    same(`artifact ${artifactId}`, artifacts.get(artifactId), told)
    const versions = revisions.edges.map(({ node }: Answered) => node.version)
    same(
      `revisions of ${artifactId}`,
      versions,
      versions.map((_: unknown, index: number) => told.version - versions.length + index + 1),
    )
    same(`the last revision of ${artifactId}`, told.data, revisions.edges.at(-1)?.node.data)
  }
  const toldProposals = await nodes('proposals', 'status: null, first: 100,', 'proposalId status')
  same(
    'proposals',
    [...proposals],
    toldProposals.map(({ proposalId, status }) => [proposalId, status]),
  )
  const toldRuns = await nodes('runs', 'first: 100,', 'runId status')
  same(
    'runs',
    [...runs],
    toldRuns.map(({ runId, status }) => [runId, status]),
  )
  return problems
}

const messagesOf = async (ask: Ask, workspaceId: string, threadId: string): Promise<string[]> => {
  const query = `query ($workspaceId: ID!, $threadId: ID!, $after: String) { workspace(workspaceId: $workspaceId) { thread(threadId: $threadId) {
    messages(first: 200, after: $after) { edges { node { messageId } } ${pageInfo} } } } }`
  const ids: string[] = []
  for (let after: string | null = null; ; ) {
    const { messages }: Answered = (await ask(query, { workspaceId, threadId, after })).workspace.thread
    ids.push(...messages.edges.map(({ node }: Answered) => node.messageId))
    if (!messages.pageInfo.hasNextPage) return ids
    after = messages.pageInfo.endCursor
  }
}
