/** Clients of Server-Sent Events, down to the socket: what comes is seen as it comes, and reading can be stopped. */
import { type ClientRequest, type IncomingMessage, request } from 'node:http'
import { onTestFinished } from 'vitest'
import { until } from './gateway.js'

/** One event, as it was sent. */
export interface Sent {
  readonly event: string
  readonly id: string | undefined
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of many shapes
  readonly data: any
}

export interface EventStreamClient {
  readonly response: IncomingMessage
  readonly sent: readonly Sent[]
  /** How many comments came. */
  readonly comments: number
  /** How many bytes came. */
  readonly bytes: number
  /** The places of the envelopes that came. */
  readonly seqs: number[]
  /** Waits until something of what came is so. */
  come(what: string, isSo: (sent: readonly Sent[]) => boolean, timeout?: number): Promise<void>
  /** Waits until an envelope with this place came. */
  comeTo(seq: number, timeout?: number): Promise<void>
  /** The error that ended the stream, once it is over. */
  failure(): { code?: string; retryable?: boolean; argument?: string } | undefined
  /** Stops reading, so that what is sent stays on its way. */
  pause(): void
  resume(): void
  /** Goes away without a word. */
  drop(): void
  readonly isOver: boolean
}

export const EVENTS = `subscription ($workspaceId: ID!, $afterSeq: Seq, $threadIds: [ID!]) {
  events(workspaceId: $workspaceId, afterSeq: $afterSeq, threadIds: $threadIds) {
    __typename
    ... on Envelope { seq event { __typename type ... on MessagePostedEvent { messageId content } } }
    ... on ReplayComplete { upToSeq }
    ... on LogReset { headSeq }
  }
}`

export interface Following {
  readonly query?: string
  readonly variables?: Record<string, unknown>
  readonly headers?: Record<string, string>
  readonly method?: 'GET' | 'POST'
}

/** Follows the log of workspace w1 from its start, unless told otherwise. */
export const openEventStream = async (
  url: string,
  { query = EVENTS, variables, headers = {}, method = 'POST' }: Following = {},
): Promise<EventStreamClient> => {
  const given = { workspaceId: 'w1', afterSeq: 0, ...variables }
  const accept = { accept: 'text/event-stream', ...headers }
  const search = new URLSearchParams({ query, variables: JSON.stringify(given) })
  const target = method === 'GET' ? `${url}/graphql?${search}` : `${url}/graphql`
  const [response, sending] = await new Promise<[IncomingMessage, ClientRequest]>((resolve, reject) => {
    const type = method === 'GET' ? {} : { 'content-type': 'application/json' }
    const asked = request(target, { method, headers: { ...type, ...accept }, agent: false }, (answer) =>
      resolve([answer, asked]),
    )
    asked.on('error', reject)
    asked.end(method === 'GET' ? undefined : JSON.stringify({ query, variables: given }))
  })
  const sent: Sent[] = []
  let comments = 0
  let bytes = 0
  let unread = ''
  let isOver = false
  sending.on('error', () => undefined)
  response.setEncoding('utf8')
  response.on('data', (text: string) => {
    bytes += text.length
    unread += text
    for (let end = unread.indexOf('\n\n'); end >= 0; end = unread.indexOf('\n\n')) {
      const block = unread.slice(0, end)
      unread = unread.slice(end + 2)
      if (block.startsWith(':')) comments++
      else sent.push(parse(block))
    }
  })
  response.on('error', () => undefined)
  response.on('close', () => {
    isOver = true
  })
  const client: EventStreamClient = {
    response,
    sent,
    get comments() {
      return comments
    },
    get bytes() {
      return bytes
    },
    get isOver() {
      return isOver
    },
    get seqs() {
      return seqsOf(sent)
    },
    come: (what, isSo, timeout = 15_000) =>
      until(timeout, what, () => (isSo(sent) ? true : null)).then(() => undefined),
    comeTo: (seq, timeout) =>
      client.come(`the event ${seq}`, () => (seqsOf(sent.slice(-1))[0] ?? lastSeq(sent)) >= seq, timeout),
    failure: () => sent.flatMap(({ data }) => data?.errors ?? []).at(-1)?.extensions,
    pause: () => void response.pause(),
    resume: () => void response.resume(),
    drop: () => void sending.destroy(),
  }
  return client
}

/** Follows the log, and goes away with the test. */
export const follow = async (url: string, following?: Following) => {
  const client = await openEventStream(url, following)
  onTestFinished(() => client.drop())
  return client
}

const seqsOf = (sent: readonly Sent[]): number[] =>
  sent.flatMap(({ data }) => {
    const seq = data?.data?.events?.seq
    return typeof seq === 'number' ? [seq] : []
  })

const lastSeq = (sent: readonly Sent[]): number => {
  for (let index = sent.length - 1; index >= 0; index--) {
    const seq = seqsOf(sent.slice(index, index + 1))[0]
    if (seq !== undefined) return seq
  }
  return 0
}

const parse = (block: string): Sent => {
  const fields = new Map(
    block.split('\n').map((line): [string, string] => {
      const colon = line.indexOf(':')
      return [line.slice(0, colon), line.slice(colon + 1).replace(/^ /, '')]
    }),
  )
  const data = fields.get('data') ?? ''
  return {
    event: fields.get('event') ?? 'message',
    id: fields.get('id'),
    data: data === '' ? null : JSON.parse(data),
  }
}
