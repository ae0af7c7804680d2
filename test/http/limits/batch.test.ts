/** Several operations in one request. */
import { ApolloClient, gql, InMemoryCache } from '@apollo/client'
import { BatchHttpLink } from '@apollo/client/link/batch-http'
import { describe, expect, it } from 'vitest'
import { EVENTS } from '../../support/eventStreams.js'
import { post } from '../../support/gateway.js'
import { CREATE_THREAD, codesIn } from '../../support/limits.js'
import { createThread, postMessage } from '../../support/posts.js'
import { serving } from '../../support/serving.js'

const VIEWER = { query: '{ viewer { tenantId } }' }
const HEAD = { query: '{ workspace(workspaceId: "w1") { headSeq } }' }
const MUTATION = { query: `mutation Make { ${CREATE_THREAD} }` }

const codesOfEach = (results: readonly object[]): string[][] => results.map((body) => codesIn({ body }))

describe('a batch', () => {
  it('is answered with a result for each operation, in order, whatever becomes of the others', async () => {
    const { url } = await serving()
    const batch = [VIEWER, { query: '{' }, { query: '{ nothing }' }, HEAD]
    const { status, body } = await post(url, batch)
    expect(status).toBe(200)
    expect(codesOfEach(body)).toEqual([[], ['GRAPHQL_PARSE_FAILED'], ['GRAPHQL_VALIDATION_FAILED'], []])
    expect(body[0]).toEqual({ data: { viewer: { tenantId: 'dev' } } })
    expect(body[3]).toEqual({ data: { workspace: { headSeq: 0 } } })
  })

  it('is carried out one operation after the other', async () => {
    const { url } = await serving()
    const { body } = await post(url, [HEAD, MUTATION, HEAD, MUTATION, HEAD])
    const heads = [body[0], body[2], body[4]].map(({ data }) => data.workspace.headSeq)
    expect(heads).toEqual([0, 1, 2])
  })

  it('costs what its operations cost together', async () => {
    const { url } = await serving({ limits: { maxCost: 250 } })
    const { headers, body } = await post(url, [MUTATION, MUTATION, MUTATION, VIEWER])
    expect(codesOfEach(body)).toEqual([[], [], ['QUERY_TOO_COMPLEX'], []])
    expect(headers.get('x-graphql-cost')).toBe('206')
  })

  it('has no subscriptions in it', async () => {
    const { url } = await serving()
    const { body } = await post(url, [{ query: EVENTS, variables: { workspaceId: 'w1' } }, VIEWER])
    expect(codesOfEach(body)).toEqual([['BAD_USER_INPUT'], []])
    expect(body[0].errors[0].message).toContain('subscription')
  })

  it.each([
    ['is empty', [], 400, 'BAD_USER_INPUT'],
    ['has more operations than are taken', [VIEWER, VIEWER, VIEWER, VIEWER], 413, 'BATCH_TOO_LARGE'],
    ['holds what is no operation', [VIEWER, 'x'], 400, 'BAD_USER_INPUT'],
    ['holds another batch', [VIEWER, [VIEWER]], 400, 'BAD_USER_INPUT'],
  ])('is refused as a whole when it %s', async (_, batch, status, code) => {
    const { url } = await serving({ limits: { maxBatch: 3 } })
    const answer = await post(url, batch)
    expect([answer.status, codesIn(answer)]).toEqual([status, [code]])
  })

  it('is refused where batches are switched off', async () => {
    const { url } = await serving({ limits: { maxBatch: 1 } })
    const answer = await post(url, [VIEWER])
    expect([answer.status, codesIn(answer)]).toEqual([413, ['BATCH_TOO_LARGE']])
    expect(answer.body.errors[0].message).toContain('not taken')
  })

  it('is one line of the log, which says how many operations it had', async () => {
    const { url, logged } = await serving()
    const { headers } = await post(url, [VIEWER, VIEWER], { 'x-request-id': 'batch-1' })
    expect(headers.get('x-request-id')).toBe('batch-1')
    const lines = logged.filter(({ fields }) => fields['requestId'] === 'batch-1')
    expect(lines).toMatchObject([
      { message: 'request', fields: { operations: 2, status: 200, tenant: 'dev' } },
    ])
  })

  it('is what Apollo’s BatchHttpLink sends', async () => {
    const { url } = await serving()
    await createThread(url)
    await postMessage(url)
    const requests: string[] = []
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: new BatchHttpLink({
        uri: `${url}/graphql`,
        fetch: (input, init) => {
          requests.push(String(init?.body))
          return fetch(input, init)
        },
      }),
    })
    const [viewer, workspace] = await Promise.all([
      client.query<{ viewer: { tenantId: string } }>({ query: gql(VIEWER.query) }),
      client.query<{ workspace: { messageIdUsed: boolean } }>({
        query: gql('{ workspace(workspaceId: "w1") { messageIdUsed(messageId: "m") } }'),
      }),
    ])
    expect(requests).toHaveLength(1)
    expect(viewer.data?.viewer.tenantId).toBe('dev')
    expect(workspace.data?.workspace.messageIdUsed).toBe(false)
    client.stop()
  })
})
