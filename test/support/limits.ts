/** Operations that meet a limit, over HTTP and over a WebSocket. */
import { type Answer, post } from './gateway.js'
import { openSocket } from './sockets.js'

interface Asked {
  readonly query?: string
  readonly variables?: Record<string, unknown>
  readonly operationName?: string
  readonly documentId?: unknown
  readonly extensions?: Record<string, unknown>
}

interface Failure {
  readonly message: string
  readonly extensions: { readonly code: string; readonly [detail: string]: unknown }
}

export const errorsIn = ({ body }: Pick<Answer, 'body'>): readonly Failure[] => body.errors ?? []

export const codesIn = (answer: Pick<Answer, 'body'>): string[] =>
  errorsIn(answer).map(({ extensions }) => extensions.code)

/** The first answer to an operation over a WebSocket of its own, in the form that HTTP has. */
export const askOverWebSocket = async (
  url: string,
  { query = '', ...rest }: Asked,
): Promise<Pick<Answer, 'body'>> => {
  const client = await openSocket(url)
  await client.init()
  client.send({ id: 'o', type: 'subscribe', payload: { query, ...rest } })
  await client.come('an answer', () => client.of('o').length > 0)
  const [first] = client.of('o')
  client.socket.close()
  return { body: first?.type === 'error' ? { errors: first.payload } : first?.payload }
}

/** The same operation both ways. */
export const askBothWays = async (url: string, asked: Asked): Promise<Pick<Answer, 'body'>[]> => [
  await post(url, asked),
  await askOverWebSocket(url, asked),
]

export const CREATE_THREAD = 'createThread(input: { workspaceId: "w1" }) { __typename }'
