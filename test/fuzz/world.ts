/** What is known of the workspaces so far, so that much of what is asked is about something that exists. */
import type { Scope } from '../../src/storage/port.js'
import type { Draws } from './draws.js'

const tenants = ['acme', 'globex'] as const
export const workspaces = ['w1', 'w2', '__proto__'] as const
export const scopes: readonly Scope[] = tenants.flatMap((tenantId) =>
  workspaces.map((workspaceId) => ({ tenantId, workspaceId })),
)

type Headers = Readonly<Record<string, string>>

/** Who acts, by headers. */
export const actors: readonly Headers[] = [
  { 'x-user': 'ada', 'x-user-name': 'Ada' },
  { 'x-user': 'bob' },
  { 'x-actor-kind': 'external_agent', 'x-actor-id': 'bot' },
  { 'x-actor-kind': 'system' },
]
export const evaluator: Headers = {
  'x-actor-kind': 'evaluator',
  'x-actor-id': 'eva',
  'x-actor-version': '1',
}

/** What is remembered of a workspace. */
export interface Known {
  readonly threads: readonly string[]
  readonly messages: readonly { readonly messageId: string; readonly threadId: string }[]
  readonly artifacts: readonly {
    readonly artifactId: string
    readonly version: number
    readonly kind: string
  }[]
  readonly proposals: readonly string[]
  readonly runs: readonly string[]
  readonly waiting: readonly { readonly runId: string; readonly toolCallId: string; readonly kind: string }[]
  readonly head: number
}

const nothing: Known = {
  threads: [],
  messages: [],
  artifacts: [],
  proposals: [],
  runs: [],
  waiting: [],
  head: 0,
}

/** A thread and an artifact, so that there is something from the start. */
export const BEGIN = `mutation ($workspaceId: ID!) {
  createThread(input: { workspaceId: $workspaceId, threadId: "t1" }) { __typename }
  createArtifact(input: { workspaceId: $workspaceId, artifactId: "a1", kind: "note", data: { title: "alpha", text: "alpha" } }) { __typename }
}`

const SURVEY = `query ($workspaceId: ID!) { workspace(workspaceId: $workspaceId) {
  headSeq
  threads(last: 20) { edges { node { threadId messages(last: 3) { edges { node { messageId } } } } } }
  artifacts(last: 20) { edges { node { artifactId version kind } } }
  proposals(last: 10) { edges { node { proposalId } } }
  runs(last: 10) { edges { node { runId } } }
  paused: runs(status: PAUSED, last: 10) { edges { node { runId pending { toolCallId kind answered } } } }
} }`

export const surveyOf = ({ workspaceId }: Scope) => ({ query: SURVEY, variables: { workspaceId } })

// biome-ignore lint/suspicious/noExplicitAny: the answer to a survey
type Answered = any

/** How many of a kind are remembered. */
const REMEMBERED = 200

export class World {
  readonly #known = new Map<string, Known>()
  /** Global ids and cursors, of whichever tenant and list. */
  readonly #seen = { id: [] as string[], cursor: [] as string[] }

  /** The run that was begun last, of whichever workspace. */
  begun: string | null = null

  of({ tenantId, workspaceId }: Scope): Known {
    return this.#known.get(`${tenantId} ${workspaceId}`) ?? nothing
  }

  /** Of any workspace, mostly another's. */
  ofAny(draws: Draws): Known {
    return this.of(draws.oneOf(scopes))
  }

  globalId(draws: Draws): string | null {
    return this.#seen.id.length === 0 ? null : draws.oneOf(this.#seen.id)
  }

  cursor(draws: Draws): string | null {
    return this.#seen.cursor.length === 0 ? null : draws.oneOf(this.#seen.cursor)
  }

  /** Looks into an object of an answer. */
  learn(type: string, fields: Readonly<Record<string, unknown>>): void {
    const { id, cursor } = fields
    if (typeof id === 'string' && type !== 'Envelope') this.#remember('id', id)
    if (typeof cursor === 'string') this.#remember('cursor', cursor)
  }

  /** Takes the answer to a survey. */
  surveyed({ tenantId, workspaceId }: Scope, { workspace }: Answered): void {
    const nodes = (connection: Answered): Answered[] => connection.edges.map(({ node }: Answered) => node)
    const threads = nodes(workspace.threads)
    this.#known.set(`${tenantId} ${workspaceId}`, {
      threads: threads.map(({ threadId }) => threadId),
      messages: threads.flatMap(({ threadId, messages }) =>
        nodes(messages).map(({ messageId }) => ({ messageId, threadId })),
      ),
      artifacts: nodes(workspace.artifacts),
      proposals: nodes(workspace.proposals).map(({ proposalId }) => proposalId),
      runs: nodes(workspace.runs).map(({ runId }) => runId),
      waiting: nodes(workspace.paused).flatMap(({ runId, pending }) =>
        pending
          .filter(({ answered }: Answered) => !answered)
          .map(({ toolCallId, kind }: Answered) => ({ runId, toolCallId, kind })),
      ),
      head: workspace.headSeq,
    })
  }

  #remember(kind: 'id' | 'cursor', value: string): void {
    const seen = this.#seen[kind]
    if (seen.includes(value)) return
    seen.push(value)
    if (seen.length > REMEMBERED) seen.shift()
  }
}
