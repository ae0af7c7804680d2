/** Two parties that know nothing of each other do random things with the same ids, and steal what they can: what each of them sees. */
import { resultsIn } from './client.js'
import { type Action, type Asked, actors, begins, deeds, type Loot, query } from './deeds.js'
import { Normaliser } from './normal.js'

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes
type Answered = any

const EVENT =
  'seq id workspaceId threadId runId actor { __typename displayName } event { __typename type ... on MessagePostedEvent { messageId content } ... on ThreadCreatedEvent { threadId title } ... on ArtifactCreatedEvent { artifactId data } ... on RunEndedEvent { runStatus: status reason } ... on AppEvent { name } }'

const VIEW = query(`id headSeq
  threads(first: 3) { edges { cursor node { id threadId title mode focus { id } activeRun { id } messages(first: 30) { edges { cursor node { id messageId content seq author { displayName } run { id } } } } runs(first: 10) { edges { node { id } } } } } }
  artifacts(includeArchived: true, first: 5) { edges { cursor node { id artifactId kind version data archived updatedBy { displayName } revisions(first: 8) { edges { cursor node { version data proposalId } } } } } }
  proposals(status: null) { edges { cursor node { id proposalId status artifact { id } } } }
  runs { edges { cursor node { id runId threadId status pending { toolCallId answered } answers { toolCallId answer } } } }
  changeNotes(afterSeq: 0) { artifactId text actors action }
  m0: messageIdUsed(messageId: "m0") m1: messageIdUsed(messageId: "m1") m2: messageIdUsed(messageId: "m2")
  events(first: 200) { ${EVENT} }`)

const FOLLOW = `subscription ($workspaceId: ID!) { events(workspaceId: $workspaceId, afterSeq: 0) { __typename ... on Envelope { ${EVENT} } } }`

export interface Party {
  readonly tenantId: string
  readonly workspaceId: string
}

/** What a party was told, in what order. */
class Eyes {
  readonly party: Party
  readonly answers: Answered[] = []
  readonly frames: Answered[] = []
  readonly #url: string
  #loot: Loot = { ids: [], cursors: [], runs: [], head: 0 }

  constructor(url: string, party: Party) {
    this.#url = url
    this.party = party
  }

  get loot(): Loot {
    return this.#loot
  }

  async ask(
    asked: Asked & { lastEventId?: string },
    actor: number,
    commandId: string | null = null,
  ): Promise<Answered> {
    const { workspaceId } = this.party
    const own = { workspaceId, ...(commandId !== null && { commandId }) }
    const variables =
      'input' in asked ? { input: { ...asked.input, ...own } } : { ...asked.variables, workspaceId }
    const isStream = asked.query.startsWith('subscription')
    const used =
      asked.query.includes('$workspaceId') || 'input' in asked
        ? variables
        : asked.query.includes('$ids')
          ? { ids: 'variables' in asked ? asked.variables['ids'] : [] }
          : variables
    const response = await this.#send(
      { query: asked.query, variables: used },
      {
        ...actors[actor],
        ...(isStream && { accept: 'text/event-stream' }),
        ...(asked.lastEventId !== undefined && { 'last-event-id': asked.lastEventId }),
      },
    )
    return isStream ? readSome(response) : response.json()
  }

  async act(action: Action, commandId: string | null, loot: Loot): Promise<void> {
    const { does, actor } = action
    const answer = await this.ask(deeds[does](action, loot), actor, commandId)
    this.answers.push({ does, answer })
    if (begins.has(does)) await this.#idle()
  }

  /** Everything there is to see, and what there is to steal of it. */
  async look(): Promise<Answered> {
    const view = await this.ask(VIEW, 0)
    const { threads, artifacts, runs, headSeq, id } = view.data.workspace
    const edges = [...threads.edges, ...artifacts.edges, ...runs.edges]
    this.#loot = {
      ids: [id, ...edges.map(({ node }: Answered) => node.id)],
      cursors: edges.map(({ cursor }: Answered) => cursor),
      runs: runs.edges.map(({ node }: Answered) => node),
      head: headSeq,
    }
    return view
  }

  /** Follows the log from its start until it is told to stop: what came. */
  async follow(): Promise<() => Promise<void>> {
    const { workspaceId } = this.party
    const response = await this.#send(
      { query: FOLLOW, variables: { workspaceId } },
      { accept: 'text/event-stream' },
    )
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
    let text = ''
    const reading = (async () => {
      for (let part = await reader?.read(); part?.done === false; part = await reader?.read())
        text += part.value
    })()
    return async () => {
      const head: number = (await this.ask(query('headSeq'), 0)).data.workspace.headSeq
      const came = () => resultsIn(text).map((result: Answered) => result.data.events)
      const seqs = () => came().filter(({ __typename: type }) => type === 'Envelope')
      for (let looks = 0; seqs().length < head && looks < 2_000; looks++) await pause(5)
      await reader?.cancel()
      await reading
      this.frames.push(...seqs())
    }
  }

  /** Until no turn of the party is under way. */
  async #idle(): Promise<void> {
    for (;;) {
      const { data } = await this.ask(
        query('runs(last: 20) { edges { node { status pending { answered } } } }'),
        0,
      )
      const isBusy = data.workspace.runs.edges.some(
        ({ node }: Answered) =>
          node.status === 'RUNNING' ||
          (node.status === 'PAUSED' && node.pending.every(({ answered }: Answered) => answered)),
      )
      if (!isBusy) return
      await pause(1)
    }
  }

  #send(body: object, headers: Record<string, string>): Promise<Response> {
    return fetch(`${this.#url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-tenant': this.party.tenantId, ...headers },
      body: JSON.stringify(body),
    })
  }
}

const pause = (time: number) => new Promise((resolve) => setTimeout(resolve, time))

/** What a stream says up to where its replay is over, or its end. */
const readSome = async (response: Response): Promise<unknown[]> => {
  const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader()
  let text = ''
  for (let part = await reader?.read(); part?.done === false; part = await reader?.read()) {
    text += part.value
    // An event may come in parts.
    const whole = text.slice(0, text.lastIndexOf('\n\n') + 2)
    if (whole.includes('ReplayComplete') || whole.includes('event: complete')) break
  }
  await reader?.cancel()
  return resultsIn(text)
}

const prelude: readonly Action[] = [
  ['createThread', 'alpha'],
  ['post', '/ask why'],
  ['postAnew', 'hello'],
  ['createArtifact', 'alpha'],
].map(([does, text]) => ({ does, text, id: 0, other: 0, actor: 0, commandId: null, steals: false }) as Action)

/** What a party was told and sees in the end, as text without what is different each time. */
interface Story {
  readonly answers: readonly string[]
  readonly view: string
  readonly frames: string
}

export interface Stories {
  readonly first: Story
  readonly second: Story
}

export interface Played {
  /** Of the gateway. */
  readonly url: string
  readonly parties: readonly [Party, Party]
  readonly actions: readonly [readonly Action[], readonly Action[]]
  /** What an action's command id is called. */
  readonly commandId?: (action: Action) => string | null
}

/** Lets both parties act at the same time, step by step. */
export const play = async ({
  url,
  parties,
  actions,
  commandId = plainCommandId,
}: Played): Promise<Stories> => {
  const eyes = [new Eyes(url, parties[0]), new Eyes(url, parties[1])] as const
  for (const each of eyes) {
    for (const action of prelude) await each.act(action, null, each.loot)
    await each.look()
  }
  const followed = await Promise.all(eyes.map((each) => each.follow()))
  const steps = Math.max(...actions.map(({ length }) => length))
  for (let step = 0; step < steps; step++) {
    await Promise.all(
      eyes.map(async (each, index) => {
        const action = actions[index]?.[step]
        const loot = action?.steals ? eyes[1 - index]?.loot : each.loot
        if (action !== undefined) await each.act(action, commandId(action), loot ?? each.loot)
      }),
    )
  }
  await Promise.all(followed.map((stop) => stop()))
  // Of what both share, the first name stands.
  const shownAs = new Map(
    [...parties.entries()]
      .reverse()
      .flatMap(([n, { tenantId, workspaceId }]) => [
        [tenantId, `<tenant ${n}>`] as const,
        [workspaceId, `<workspace ${n}>`] as const,
      ]),
  )
  const told = async (each: Eyes): Promise<Story> => {
    const normal = new Normaliser(shownAs)
    // The view first: it names what was there in the order in which it came.
    const view = normal.text(await each.look())
    return {
      view,
      answers: each.answers.map((answer) => normal.text(answer)),
      frames: normal.text(each.frames),
    }
  }
  return { first: await told(eyes[0]), second: await told(eyes[1]) }
}

const plainCommandId = ({ commandId }: Action): string | null => (commandId === null ? null : `c${commandId}`)
