/** Writing through a gateway's API. */
import { type Answer, post } from './gateway.js'

const carriedOut = async (answer: Promise<Answer>, field: string): Promise<number> => {
  const { status, body } = await answer
  const seq = body.data?.[field]?.seq
  if (typeof seq !== 'number')
    throw new Error(`${field} was not carried out: ${status} ${JSON.stringify(body)}`)
  return seq
}

type Headers = Record<string, string>

/** Creates the thread `t1` of workspace w1, or another. Its `seq`. */
export const createThread = (url: string, threadId = 't1', workspaceId = 'w1', headers: Headers = {}) =>
  carriedOut(
    post(
      url,
      {
        query: `mutation ($input: CreateThreadInput!) {
          createThread(input: $input) { ... on CreateThreadSuccess { seq } ... on Rejection { code message } }
        }`,
        variables: { input: { workspaceId, threadId } },
      },
      headers,
    ),
    'createThread',
  )

/** Posts a message in the thread `t1` of workspace w1, or another. Its `seq`. */
export const postMessage = (
  url: string,
  content = 'hello',
  {
    headers = {},
    ...input
  }: { headers?: Headers; threadId?: string; workspaceId?: string; messageId?: string } = {},
) =>
  carriedOut(
    post(
      url,
      {
        query: `mutation ($input: PostMessageInput!) {
          postMessage(input: $input) { ... on PostMessageSuccess { seq } ... on Rejection { code message } }
        }`,
        variables: { input: { workspaceId: 'w1', threadId: 't1', content, ...input } },
      },
      headers,
    ),
    'postMessage',
  )

/** Posts so many messages, some at once. */
export const postMany = async (url: string, count: number, atOnce = 10): Promise<void> => {
  let left = count
  const one = async () => {
    while (left-- > 0) await postMessage(url)
  }
  await Promise.all(Array.from({ length: atOnce }, one))
}

/** 1, 2, 3 … */
export const upTo = (count: number, after = 0): number[] =>
  Array.from({ length: count - after }, (_, index) => after + index + 1)
