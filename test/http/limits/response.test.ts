/** A response that would hold too much ends while it is made. */
import { describe, expect, it } from 'vitest'
import { openEventStream } from '../../support/eventStreams.js'
import { post } from '../../support/gateway.js'
import { askBothWays, codesIn } from '../../support/limits.js'
import { createThread, postMessage } from '../../support/posts.js'
import { serving } from '../../support/serving.js'

const LIMIT = 10_000
const limits = { maxResponseBytes: LIMIT }

const titles = (count: number): string => {
  const aliases = Array.from({ length: count }, (_, n) => `t${n}: title`)
  return `{ workspace(workspaceId: "w1") { thread(threadId: "t1") { ${aliases.join(' ')} } } }`
}

describe('a response', () => {
  it('holds as much as it may, and no more, however cheap what it holds is', async () => {
    const { url } = await serving({ limits })
    const title = 'x'.repeat(1_000)
    const query = `mutation ($title: String!) { createThread(input: { workspaceId: "w1", threadId: "t1", title: $title }) { __typename } }`
    await post(url, { query, variables: { title } })
    for (const { body } of await askBothWays(url, { query: titles(10) }))
      expect(body.data.workspace.thread.t9).toBe(title)
    for (const answer of await askBothWays(url, { query: titles(11) })) {
      expect(codesIn(answer)).toEqual(['RESPONSE_TOO_LARGE'])
      expect(answer.body.errors[0].extensions.limit).toBe(LIMIT)
    }
    const batch = await post(url, [{ query: titles(6) }, { query: titles(6) }])
    expect(batch.body.map((body: object) => codesIn({ body }))).toEqual([[], ['RESPONSE_TOO_LARGE']])
  })

  it('is measured in bytes, and data as it is written', async () => {
    const { url } = await serving({ limits })
    const create = async (artifactId: string, text: string) =>
      post(url, {
        query: `mutation ($input: CreateArtifactInput!) { createArtifact(input: $input) { __typename } }`,
        variables: { input: { workspaceId: 'w1', artifactId, kind: 'note', data: { title: 'n', text } } },
      })
    await create('ascii', 'x'.repeat(9_000))
    await create('wide', '€'.repeat(9_000))
    const read = async (artifactId: string) =>
      codesIn(
        await post(url, {
          query: `{ workspace(workspaceId: "w1") { artifact(artifactId: "${artifactId}") { data } } }`,
        }),
      )
    expect(await read('ascii')).toEqual([])
    expect(await read('wide')).toEqual(['RESPONSE_TOO_LARGE'])
  })

  it('to a mutation comes after what it did', async () => {
    const { url } = await serving({ limits: { maxResponseBytes: 100 } })
    const query = `mutation ($title: String!) { createThread(input: { workspaceId: "w1", threadId: "t1", title: $title }) {
      ... on CreateThreadSuccess { thread { title } } } }`
    expect(codesIn(await post(url, { query, variables: { title: 'x'.repeat(200) } }))).toEqual([
      'RESPONSE_TOO_LARGE',
    ])
    const { body } = await post(url, { query: '{ workspace(workspaceId: "w1") { headSeq } }' })
    expect(body.data.workspace.headSeq).toBe(1)
  })
})

describe('a stream', () => {
  it('is bounded by frame, and not as a whole', async () => {
    const { url } = await serving({ limits: { maxResponseBytes: 1_000 } })
    await createThread(url)
    for (let n = 0; n < 5; n++) await postMessage(url, 'x'.repeat(600))
    const query = `subscription { events(workspaceId: "w1", afterSeq: 0) {
      ... on Envelope { seq event { ... on MessagePostedEvent { content } } } } }`
    const stream = await openEventStream(url, { query })
    await stream.comeTo(6)
    stream.drop()
  })
})
