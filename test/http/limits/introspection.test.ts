/** Whether clients may ask for the schema, and whether browsers get GraphiQL. */
import { describe, expect, it } from 'vitest'
import { answerOf, post } from '../../support/gateway.js'
import { askBothWays, codesIn, errorsIn } from '../../support/limits.js'
import { serving } from '../../support/serving.js'

const typeOfPage = async (url: string) => {
  const { headers } = await answerOf(await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } }))
  return headers.get('content-type') ?? ''
}

describe('introspection switched off', () => {
  it('refuses to tell the schema, over HTTP and over a WebSocket, but not the type of a result', async () => {
    const { url } = await serving({ introspection: false })
    for (const query of [
      '{ __schema { queryType { name } } }',
      '{ ...A } fragment A on Query { __type(name: "Query") { name } }',
    ])
      for (const answer of await askBothWays(url, { query }))
        expect(codesIn(answer)).toEqual(['INTROSPECTION_DISABLED'])
    const { body } = await post(url, { query: '{ __typename viewer { __typename } }' })
    expect(body).toEqual({ data: { __typename: 'Query', viewer: { __typename: 'Viewer' } } })
  })

  it('tells nothing of it by suggestions either', async () => {
    const queries = [
      { query: '{ viewe { tenantId } }' },
      { query: '{ workspace(workspaceI: "w1") { headSeq } }' },
      {
        query:
          'query ($s: ProposalStatus) { workspace(workspaceId: "w1") { proposals(status: $s) { edges { cursor } } } }',
        variables: { s: 'PENDIN' },
      },
      {
        query: 'mutation ($i: CreateThreadInput!) { createThread(input: $i) { __typename } }',
        variables: { i: { workspaceI: 'w1' } },
      },
    ]
    const suggestions = async (introspection: boolean) => {
      const { url } = await serving({ introspection })
      const answers = await Promise.all(queries.map((query) => askBothWays(url, query)))
      return answers
        .flat()
        .map((answer) => errorsIn(answer).some(({ message }) => message.includes('Did you mean')))
    }
    expect(new Set(await suggestions(true))).toEqual(new Set([true]))
    expect(new Set(await suggestions(false))).toEqual(new Set([false]))
  })
})

describe('GraphiQL', () => {
  it('is there unless it is switched off', async () => {
    const on = await serving()
    expect(await typeOfPage(on.url)).toContain('text/html')
    const off = await serving({ graphiql: false })
    expect(await typeOfPage(off.url)).not.toContain('text/html')
  })

  it('is not there where only trusted documents are carried out, since it could do nothing', async () => {
    const documents = { a: '{ viewer { tenantId } }' }
    const only = await serving({ trustedDocuments: { documents } })
    expect(await typeOfPage(only.url)).not.toContain('text/html')
    const also = await serving({ trustedDocuments: { documents, only: false } })
    expect(await typeOfPage(also.url)).toContain('text/html')
  })
})
