/** A client's mistakes are told as such: none is an internal error, and none is quietly corrected. */
import { connect } from 'node:net'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { answerOf, linesOf, post, type RunningGateway, startGateway } from '../support/gateway.js'

let gateway: RunningGateway
beforeAll(async () => {
  gateway = await startGateway({ MAX_BODY_BYTES: '4096' })
})
afterAll(() => gateway?.kill())

const bytes = (text: string): Uint8Array<ArrayBuffer> => Uint8Array.from(Buffer.from(text, 'latin1'))
const get = async (queryString: string, headers: Record<string, string> = {}) =>
  answerOf(await fetch(`${gateway.url}/graphql?${queryString}`, { headers }))

const codesOf = (body: { errors?: { extensions?: { code?: string } }[] }) =>
  body.errors?.map(({ extensions }) => extensions?.code)

describe('a body that is no request', () => {
  it.each([
    ['empty', '', 'The body is empty.'],
    ['not JSON', '{"query":', 'The body is not JSON.'],
    ['a string', '"{ viewer { tenantId } }"', 'it must be a JSON object'],
    ['null', 'null', 'it must be a JSON object'],
    ['an empty batch', '[]', 'The batch is empty'],
    ['a batch of what is no request', '[{"query":"{ __typename }"},1]', 'it must be a JSON object'],
    ['without a query', '{}', 'query is required'],
    ['with a query that is no string', '{"query":1}', 'query must be a string'],
    ['with a null query', '{"query":null}', 'query is required'],
    [
      'with variables that are no object',
      '{"query":"{ __typename }","variables":[1]}',
      'variables must be an object',
    ],
    [
      'with variables in a string',
      '{"query":"{ __typename }","variables":"{}"}',
      'variables must be an object',
    ],
    [
      'with extensions that are no object',
      '{"query":"{ __typename }","extensions":1}',
      'extensions must be an object',
    ],
    [
      'with a numeric operation name',
      '{"query":"{ __typename }","operationName":1}',
      'operationName must be a string',
    ],
    ['with a misspelt parameter', '{"query":"{ __typename }","variable":{}}', '"variable" is no parameter'],
    ['not UTF-8', bytes('{"query":"{ workspace(workspaceId: \\"\xff\\") { headSeq } }"}'), 'not UTF-8'],
    [
      'a surrogate in UTF-8',
      bytes('{"query":"{ workspace(workspaceId: \\"\xed\xa0\x80\\") { headSeq } }"}'),
      'not UTF-8',
    ],
  ])('is refused: %s', async (_, body, told) => {
    const { status, body: answer } = await post(gateway.url, body)
    expect(status).toBe(400)
    expect(codesOf(answer)).toEqual(['BAD_USER_INPUT'])
    expect(answer.errors[0].message).toContain(told)
    expect(answer).not.toHaveProperty('data')
  })

  it.each([
    ['a form', { 'content-type': 'application/x-www-form-urlencoded' }],
    ['text', { 'content-type': 'text/plain' }],
    ['a multipart form', { 'content-type': 'multipart/form-data; boundary=x' }],
    ['another charset', { 'content-type': 'application/json; charset=latin1' }],
    ['compressed', { 'content-encoding': 'gzip' }],
  ])('is not supported: %s', async (_, headers) => {
    const { status, body } = await post(gateway.url, '{"query":"{ __typename }"}', headers)
    expect(status).toBe(415)
    expect(codesOf(body)).toEqual(['UNSUPPORTED_MEDIA_TYPE'])
  })

  it('is refused when it is too large, whether it says so or not', async () => {
    const query = `{ viewer { tenantId } } # ${'x'.repeat(1_000_000)}`
    const told = await post(gateway.url, { query })
    const body = new ReadableStream({
      start: (controller) => {
        controller.enqueue(new TextEncoder().encode(JSON.stringify({ query })))
        controller.close()
      },
    })
    const chunked = { method: 'POST', headers: { 'content-type': 'application/json' }, body, duplex: 'half' }
    const untold = await answerOf(await fetch(`${gateway.url}/graphql`, chunked))
    for (const { status, body } of [told, untold]) {
      expect(status).toBe(413)
      expect(codesOf(body)).toEqual(['PAYLOAD_TOO_LARGE'])
    }
    // The gateway answers on.
    expect((await post(gateway.url, { query: '{ __typename }' })).status).toBe(200)
  })
})

describe('a query string that is no request', () => {
  it.each([
    ['without a query', 'variables={}', 'query is required'],
    ['with variables that are not JSON', 'query={__typename}&variables={', 'variables is not JSON'],
    ['with variables that are no object', 'query={__typename}&variables=[]', 'variables must be an object'],
    ['not UTF-8', 'query={workspace(workspaceId:%22%ff%22){headSeq}}', 'not percent-encoded UTF-8'],
    ['with a parameter twice', 'query={__typename}&query={viewer{tenantId}}', 'given twice'],
  ])('is refused: %s', async (_, queryString, told) => {
    const { status, body } = await get(queryString)
    expect(status).toBe(400)
    expect(codesOf(body)).toEqual(['BAD_USER_INPUT'])
    expect(body.errors[0].message).toContain(told)
  })

  it('is refused when it is too large', async () => {
    const { status, body } = await get(`query={__typename}%23${'x'.repeat(5000)}`)
    expect([status, codesOf(body)]).toEqual([414, ['PAYLOAD_TOO_LARGE']])
  })

  it('is no way to change anything', async () => {
    const mutation = encodeURIComponent(
      'mutation { createThread(input: { workspaceId: "w" }) { __typename } }',
    )
    const { status, headers, body } = await get(`query=${mutation}`)
    expect(status).toBe(405)
    expect(headers.get('allow')).toBe('POST')
    expect(codesOf(body)).toEqual(['BAD_USER_INPUT'])
  })

  it('may hold a query, also one that ends like a path of the gateway', async () => {
    const { status, body } = await get(`query=${encodeURIComponent('{ __typename } #')}/health`)
    expect({ status, body }).toEqual({ status: 200, body: { data: { __typename: 'Query' } } })
  })
})

describe('an operation that cannot be executed', () => {
  const accepting = ['*/*', 'application/graphql-response+json', 'text/html, */*;q=0.1']
  const viewer = '{ viewer { tenantId } }'
  it.each([
    ['an empty document', { query: '' }, 'GRAPHQL_PARSE_FAILED'],
    ['a syntax error', { query: '{ viewer' }, 'GRAPHQL_PARSE_FAILED'],
    [
      'a lone surrogate escaped',
      { query: '{ workspace(workspaceId: "\\uD800") { headSeq } }' },
      'GRAPHQL_PARSE_FAILED',
    ],
    ['an unknown field', { query: '{ nothing }' }, 'GRAPHQL_VALIDATION_FAILED'],
    [
      'an unknown operation',
      { query: `query A ${viewer}`, operationName: 'B' },
      'OPERATION_RESOLUTION_FAILURE',
    ],
    [
      'one operation of two',
      { query: `query A ${viewer} query B ${viewer}` },
      'OPERATION_RESOLUTION_FAILURE',
    ],
    ['a missing variable', { query: 'query ($id: ID!) { node(id: $id) { id } }' }, 'BAD_USER_INPUT'],
    [
      'a variable of another type',
      { query: 'query ($id: ID!) { node(id: $id) { id } }', variables: { id: [1] } },
      'BAD_USER_INPUT',
    ],
    [
      'a variable that is never used',
      { query: 'query ($id: ID!) { __typename }', variables: { id: '1' } },
      'GRAPHQL_VALIDATION_FAILED',
    ],
    ['nested too deeply', { query: `{ a(x: ${'['.repeat(1900)}` }, 'GRAPHQL_PARSE_FAILED'],
  ])('is refused with its own code: %s', async (_, request, code) => {
    for (const accept of accepting) {
      const { status, body } = await post(gateway.url, request, { accept })
      expect(status).toBe(400)
      expect(codesOf(body)).toEqual([code])
      expect(body).not.toHaveProperty('data')
    }
  })

  it('is refused with its own code: a subscription to a run that there is not', async () => {
    const query = 'subscription { runOutput(workspaceId: "w", runId: "r") { __typename } }'
    for (const accept of ['*/*', 'application/graphql-response+json, text/event-stream']) {
      const { status, body } = await post(gateway.url, { query }, { accept })
      expect(status).toBe(400)
      expect(codesOf(body)).toEqual(['BAD_USER_INPUT'])
      expect(body).not.toHaveProperty('data')
    }
  })

  it('answers 200 to who asks for application/json by name, as GraphQL over HTTP has it', async () => {
    const { status, body } = await post(gateway.url, { query: '{ nothing }' }, { accept: 'application/json' })
    expect(status).toBe(200)
    expect(codesOf(body)).toEqual(['GRAPHQL_VALIDATION_FAILED'])
  })

  it('is told which variable is wrong', async () => {
    const query = 'query ($id: ID!) { node(id: $id) { id } }'
    const { body } = await post(gateway.url, { query, variables: { id: {} } })
    expect(body.errors[0].message).toContain('"$id"')
  })

  it('is not executed when no answer is acceptable', async () => {
    const query = 'mutation { createThread(input: { workspaceId: "unheard", threadId: "t" }) { __typename } }'
    const { status, body: told } = await post(gateway.url, { query }, { accept: 'image/png' })
    expect([status, told]).toEqual([
      406,
      {
        errors: [
          {
            message:
              'Nothing in accept can be answered: accept application/json, application/graphql-response+json or text/event-stream.',
            extensions: { code: 'NOT_ACCEPTABLE' },
          },
        ],
      },
    ])
    const { body } = await post(gateway.url, { query: '{ workspace(workspaceId: "unheard") { headSeq } }' })
    expect(body.data.workspace.headSeq).toBe(0)
  })
})

describe('a path', () => {
  it.each([
    ['/health', 200, '{"status":"ok"}'],
    ['/ready', 200, '{"status":"ready"}'],
    ['/graphq', 404, 'GraphQL is at /graphql'],
    ['/x/graphql', 404, 'GraphQL is at /graphql'],
    ['/x/health', 404, 'GraphQL is at /graphql'],
    ['//', 404, 'GraphQL is at /graphql'],
  ])('%s is answered with %s', async (path, status, told) => {
    const answer = await fetch(`${gateway.url}${path}`)
    expect(answer.status).toBe(status)
    expect(await answer.text()).toContain(told)
    expect(answer.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/)
  })

  it('/ leads to GraphQL', async () => {
    const { status, headers } = await fetch(gateway.url, { redirect: 'manual' })
    expect([status, headers.get('location')]).toEqual([307, '/graphql'])
  })

  it('is answered to the methods it has', async () => {
    const statusOf = async (method: string, path: string) =>
      (await fetch(`${gateway.url}${path}`, { method })).status
    expect(await statusOf('POST', '/health')).toBe(405)
    expect(await statusOf('HEAD', '/health')).toBe(200)
    expect(await statusOf('DELETE', '/graphql')).toBe(405)
  })
})

describe('a connection', () => {
  const send = (text: string) =>
    new Promise<string>((resolve) => {
      const { hostname, port } = new URL(gateway.url)
      const socket = connect({ host: hostname, port: Number(port) }, () => socket.end(text))
      let received = ''
      socket.setEncoding('utf8').on('data', (chunk: string) => {
        received += chunk
      })
      socket.on('close', () => resolve(received))
    })

  it('with a host that is none is told so, and shown nothing of the inside', async () => {
    const received = await send('GET /health HTTP/1.1\r\nhost: a b[\r\n\r\n')
    expect(received).toMatch(/^HTTP\/1\.1 400 /)
    expect(received).toContain('x-request-id: ')
    expect(received).not.toContain('node_modules')
  })

  it('that breaks off in the middle of a body is the client’s affair', async () => {
    const head = [
      'POST /graphql HTTP/1.1',
      'host: localhost',
      'content-type: application/json',
      'content-length: 100',
    ]
    await send(`${[...head, 'x-request-id: broken-off'].join('\r\n')}\r\n\r\n{"qu`)
    expect(await linesOf(gateway, 'broken-off')).toMatchObject([{ msg: 'request', status: 400 }])
  })
})
