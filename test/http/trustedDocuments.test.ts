/** Documents that clients name by ids. */
import { createHash } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client'
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries'
import { parse, print } from 'graphql'
import { describe, expect, it } from 'vitest'
import { createGateway } from '../../src/app.js'
import { headerAuth } from '../../src/http/identity/auth.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import { EVENTS, openEventStream } from '../support/eventStreams.js'
import { answerOf, post, spawnGateway, startGateway } from '../support/gateway.js'
import { askBothWays, askOverWebSocket, codesIn, errorsIn } from '../support/limits.js'
import { serving } from '../support/serving.js'
import { openSocket } from '../support/sockets.js'
import { temporaryDirectory } from '../support/tmp.js'

const VIEWER = '{ viewer { tenantId } }'
const HEAD = 'query Head($id: ID!) { workspace(workspaceId: $id) { headSeq } }'
const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex')
const documents = { v1: VIEWER, [sha256(HEAD)]: HEAD, events: EVENTS }
const persisted = (sha256Hash: string) => ({ extensions: { persistedQuery: { version: 1, sha256Hash } } })
const viewed = { data: { viewer: { tenantId: 'dev' } } }

describe('a trusted document', () => {
  it('is carried out by its id, in each form that clients have for it', async () => {
    const { url } = await serving({ trustedDocuments: { documents } })
    for (const asked of [{ documentId: 'v1' }, persisted('v1')])
      for (const { body } of await askBothWays(url, asked)) expect(body).toEqual(viewed)
    const named = { documentId: `sha256:${sha256(HEAD)}`, operationName: 'Head', variables: { id: 'w1' } }
    for (const { body } of await askBothWays(url, named))
      expect(body).toEqual({ data: { workspace: { headSeq: 0 } } })
    const search = new URLSearchParams({ extensions: JSON.stringify(persisted('v1').extensions) })
    for (const params of [search, 'documentId=v1']) {
      const { body } = await answerOf(await fetch(`${url}/graphql?${params}`))
      expect(body).toEqual(viewed)
    }
    const batch = await post(url, [{ documentId: 'v1' }, { documentId: 'none' }, persisted('v1')])
    expect(batch.body).toMatchObject([viewed, { errors: [{ message: 'PersistedQueryNotFound' }] }, viewed])
  })

  it('may be a subscription', async () => {
    const { url } = await serving({ trustedDocuments: { documents } })
    const client = await openSocket(url)
    await client.init()
    const payload = { query: '', ...persisted('events'), variables: { workspaceId: 'w1', afterSeq: 0 } }
    client.send({ id: 'a', type: 'subscribe', payload })
    await client.come('the replay', () => client.of('a').length > 0)
    expect(client.of('a')[0]?.payload.data.events.__typename).toBe('ReplayComplete')
    const search = new URLSearchParams({
      documentId: 'events',
      variables: '{"workspaceId":"w1","afterSeq":0}',
    })
    const headers = { accept: 'text/event-stream' }
    const response = await fetch(`${url}/graphql?${search}`, { headers })
    expect(response.headers.get('content-type')).toContain('text/event-stream')
    await response.body?.cancel()
  })

  it('that is not known is not found, by the name that Apollo’s clients look for', async () => {
    const { url } = await serving({ trustedDocuments: { documents } })
    for (const asked of [{ documentId: 'v2' }, persisted('__proto__')])
      for (const answer of await askBothWays(url, asked)) {
        expect(codesIn(answer)).toEqual(['PERSISTED_QUERY_NOT_FOUND'])
        expect(errorsIn(answer)[0]?.message).toBe('PersistedQueryNotFound')
      }
  })

  it('is the only kind that is carried out, unless told otherwise', async () => {
    const { url } = await serving({ trustedDocuments: { documents } })
    for (const asked of [{ query: HEAD }, { query: VIEWER }, { query: HEAD, documentId: 'v1' }])
      for (const answer of await askBothWays(url, asked))
        expect(codesIn(answer)).toEqual(['TRUSTED_DOCUMENTS_ONLY'])
    const refused = await openEventStream(url)
    await refused.come('the end', () => refused.isOver)
    expect(refused.failure()?.code).toBe('TRUSTED_DOCUMENTS_ONLY')
    const also = await serving({ trustedDocuments: { documents, only: false } })
    for (const asked of [{ query: VIEWER }, { documentId: 'v1' }, { query: VIEWER, ...persisted('unknown') }])
      for (const { body } of await askBothWays(also.url, asked)) expect(body).toEqual(viewed)
  })

  it.each([
    [
      'a hash that is none',
      { extensions: { persistedQuery: { version: 1 } } },
      'sha256Hash must be a string',
    ],
    ['an id that is none', { documentId: 7 }, 'documentId must be a string'],
  ])('is refused clearly: %s', async (_, asked, told) => {
    const { url } = await serving({ trustedDocuments: { documents } })
    expect((await post(url, asked)).status).toBe(400)
    for (const answer of await askBothWays(url, asked)) {
      expect(codesIn(answer)).toEqual(['BAD_USER_INPUT'])
      expect(errorsIn(answer)[0]?.message).toContain(told)
    }
  })
})

describe('without trusted documents', () => {
  it('a request without a document is told that it needs one', async () => {
    const { url } = await serving()
    expect(errorsIn(await post(url, {}))[0]?.message).toContain('query is required')
  })

  it('an id alone is told to be not supported, and beside a document it is not looked at', async () => {
    const { url } = await serving()
    for (const answer of await askBothWays(url, persisted('v1'))) {
      expect(codesIn(answer)).toEqual(['PERSISTED_QUERY_NOT_SUPPORTED'])
      expect(errorsIn(answer)[0]?.message).toBe('PersistedQueryNotSupported')
    }
    expect((await askOverWebSocket(url, { query: VIEWER, ...persisted('v1') })).body).toEqual(viewed)
  })
})

describe('Apollo Client with persisted queries', () => {
  const ask = async (url: string) => {
    const bodies: { query?: string }[] = []
    const client = new ApolloClient({
      cache: new InMemoryCache(),
      link: ApolloLink.from([
        new PersistedQueryLink({ sha256 }),
        new HttpLink({
          uri: `${url}/graphql`,
          fetch: (input, init) => {
            bodies.push(JSON.parse(String(init?.body)))
            return fetch(input, init)
          },
        }),
      ]),
    })
    const { data } = await client.query<{ viewer: { tenantId: string } }>({ query: gql(VIEWER) })
    client.stop()
    return { tenantId: data?.viewer.tenantId, sent: bodies.map(({ query }) => query !== undefined) }
  }
  /** As it prints the document, with what its cache adds. */
  const printed = print(parse('{ viewer { tenantId __typename } }'))

  it('is answered by hash alone where its document is trusted', async () => {
    const { url } = await serving({ trustedDocuments: { documents: { [sha256(printed)]: printed } } })
    expect(await ask(url)).toEqual({ tenantId: 'dev', sent: [false] })
  })

  it('sends the document after all where it is not known or ids are not supported', async () => {
    const also = await serving({ trustedDocuments: { documents, only: false } })
    expect(await ask(also.url)).toEqual({ tenantId: 'dev', sent: [false, true] })
    const without = await serving()
    expect(await ask(without.url)).toEqual({ tenantId: 'dev', sent: [false, true] })
  })
})

describe('trusted documents that cannot be used', () => {
  it('are refused by the library, each by its id', () => {
    const create = (given: Record<string, string>) => () =>
      createGateway({
        storage: new MemoryStorage(),
        resolveActor: headerAuth,
        limits: { maxDepth: 3 },
        trustedDocuments: { documents: { fine: VIEWER, ...given } },
      })
    expect(create({})).not.toThrow()
    expect(create({ a: '{ viewer', b: '{ nothing }' })).toThrow(
      /"a" is not valid: Syntax Error[\s\S]*"b" is not valid: Cannot query field "nothing"/,
    )
    expect(create({ deep: '{ a { b { c { d } } } }' })).toThrow(
      '"deep" is not valid: The document is nested too deeply',
    )
  })

  it('end the start of the process, which names the file’s problem', async () => {
    const path = (name: string, text: string) => {
      const file = join(temporaryDirectory(), name)
      writeFileSync(file, text)
      return file
    }
    const told = async (file: string) => {
      const gateway = spawnGateway({ TRUSTED_DOCUMENTS: file })
      expect((await gateway.exit).code).toBe(1)
      return gateway.errors()
    }
    const [missing, broken, list, invalid] = await Promise.all([
      told('/nowhere/documents.json'),
      told(path('broken.json', '{')),
      told(path('list.json', '["{ viewer { tenantId } }"]')),
      told(path('invalid.json', '{ "abc": "{ nothing }" }')),
    ])
    expect(missing).toContain('TRUSTED_DOCUMENTS cannot be used: the file cannot be read')
    expect(broken).toContain('TRUSTED_DOCUMENTS cannot be used: the file is not JSON')
    expect(list).toContain(
      'TRUSTED_DOCUMENTS cannot be used: the file must hold a JSON object of documents by id',
    )
    expect(invalid).toContain(
      'TRUSTED_DOCUMENTS cannot be used: the document "abc" is not valid: Cannot query field',
    )
  })

  it('do not keep a process from starting that has good ones', async () => {
    const file = join(temporaryDirectory(), 'documents.json')
    writeFileSync(file, JSON.stringify(documents))
    const only = await startGateway({ TRUSTED_DOCUMENTS: file })
    expect((await post(only.url, { documentId: 'v1' })).body).toEqual(viewed)
    expect(codesIn(await post(only.url, { query: VIEWER }))).toEqual(['TRUSTED_DOCUMENTS_ONLY'])
    const also = await startGateway({ TRUSTED_DOCUMENTS: file, TRUSTED_DOCUMENTS_ONLY: '0' })
    expect((await post(also.url, { query: VIEWER })).body).toEqual(viewed)
  })
})
