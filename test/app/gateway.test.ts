/** The gateway as a library: an application's own storage, authentication and logger, and no server. */
import { describe, expect, it } from 'vitest'
import {
  type Caller,
  createGateway,
  type GatewayOptions,
  insecureHeaderAuth,
  MemoryStorage,
  type Storage,
  StorageUnavailable,
  Unauthenticated,
} from '../../src/index.js'
import { deferred } from '../support/turns.js'

interface Logged {
  readonly level: string
  readonly fields: { readonly [name: string]: unknown }
}

const gatewayWith = (options: Partial<GatewayOptions> = {}) => {
  const logged: Logged[] = []
  const logTo = (level: string) => (fields: unknown) => {
    if (typeof fields === 'object') logged.push({ level, fields: { ...fields } })
  }
  const gateway = createGateway({
    storage: new MemoryStorage(),
    resolveActor: insecureHeaderAuth,
    logger: { debug: logTo('debug'), info: logTo('info'), warn: logTo('warn'), error: logTo('error') },
    ...options,
  })
  const ask = async (query: string, headers: Record<string, string> = {}) => {
    const request = new Request('http://gateway/graphql', {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query }),
    })
    const response = await gateway.fetch(request)
    return { status: response.status, headers: response.headers, body: await response.json() }
  }
  const get = (path: string) => gateway.fetch(new Request(`http://gateway${path}`))
  return { gateway, logged, ask, get }
}

/** A storage whose every read fails. */
const failingStorage = (error: unknown): Storage => {
  const fail = async () => {
    throw error
  }
  return Object.assign(new MemoryStorage(), { head: fail, load: fail, events: fail, ping: fail })
}

describe('an unforeseen error', () => {
  const secret = new Error('secret detail')

  it('is told by its request id alone, and logged in full with it', async () => {
    const { ask, logged } = gatewayWith({ storage: failingStorage(secret) })
    const { status, body } = await ask(
      '{ viewer { tenantId } workspace(workspaceId: "w") { thread(threadId: "t") { title } } }',
      { 'x-request-id': 'r1' },
    )
    expect(status).toBe(200)
    expect(body).toEqual({
      data: { viewer: { tenantId: 'dev' }, workspace: { thread: null } },
      errors: [
        {
          message: 'Something went wrong here. It is logged as request r1.',
          locations: [{ line: 1, column: 53 }],
          path: ['workspace', 'thread'],
          extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: 'r1' },
        },
      ],
    })
    const errors = logged.filter(({ level }) => level === 'error')
    expect(errors.map(({ fields }) => fields)).toEqual([
      expect.objectContaining({ requestId: 'r1', err: secret, path: 'workspace.thread' }),
    ])
  })

  it('is never a member of a mutation’s union', async () => {
    const storage = Object.assign(new MemoryStorage(), {
      transaction: async () => {
        throw secret
      },
    })
    const { ask } = gatewayWith({ storage })
    const { body } = await ask('mutation { createThread(input: { workspaceId: "w" }) { __typename } }')
    expect(body.data).toBeNull()
    expect(body.errors[0].extensions.code).toBe('INTERNAL_SERVER_ERROR')
    expect(JSON.stringify(body)).not.toContain('secret')
  })

  it('answers 500 when it comes before the operation', async () => {
    const { ask, logged } = gatewayWith({
      resolveActor: () => {
        throw secret
      },
    })
    const { status, body } = await ask('{ viewer { tenantId } }', { 'x-request-id': 'r2' })
    expect(status).toBe(500)
    expect(body).toEqual({
      errors: [
        {
          message: 'Something went wrong here. It is logged as request r2.',
          extensions: { code: 'INTERNAL_SERVER_ERROR', requestId: 'r2' },
        },
      ],
    })
    expect(logged.find(({ level }) => level === 'error')?.fields['err']).toBe(secret)
  })

  it('is an actor that is none', async () => {
    const caller = { tenantId: '', actor: { kind: 'user', id: 'u' } } satisfies Caller
    const { status } = await gatewayWith({ resolveActor: () => caller }).ask('{ viewer { tenantId } }')
    expect(status).toBe(500)
  })
})

describe('a storage that is unavailable', () => {
  const storage = failingStorage(new StorageUnavailable('connection refused by db.internal'))

  it('is told as something to try again, beside the data there is', async () => {
    const { status, body } = await gatewayWith({ storage }).ask(
      '{ viewer { tenantId } workspace(workspaceId: "w") { thread(threadId: "t") { title } } }',
      { 'x-request-id': 'r3' },
    )
    expect(status).toBe(200)
    expect(body.data.viewer.tenantId).toBe('dev')
    expect(body.errors[0]).toMatchObject({
      path: ['workspace', 'thread'],
      extensions: { code: 'SERVICE_UNAVAILABLE', retryable: true, requestId: 'r3' },
    })
    expect(JSON.stringify(body)).not.toContain('db.internal')
  })

  it('answers 503 when nothing could be executed', async () => {
    const resolveActor = () => {
      throw new StorageUnavailable('down')
    }
    const { status, body } = await gatewayWith({ resolveActor }).ask('{ viewer { tenantId } }')
    expect(status).toBe(503)
    expect(body.errors[0].extensions).toMatchObject({ code: 'SERVICE_UNAVAILABLE', retryable: true })
  })

  it('makes the gateway not ready, but alive', async () => {
    const { get } = gatewayWith({ storage })
    expect((await get('/ready')).status).toBe(503)
    expect((await get('/health')).status).toBe(200)
  })

  it('makes the gateway not ready when it does not answer at all', async () => {
    const silent = Object.assign(new MemoryStorage(), { ping: () => new Promise<void>(() => undefined) })
    const { get } = gatewayWith({ storage: silent })
    expect(await Promise.all([get('/ready'), get('/ready')].map(async (r) => (await r).status))).toEqual([
      503, 503,
    ])
  })
})

describe('an application', () => {
  it('says who asks, and who is refused', async () => {
    const { ask } = gatewayWith({
      resolveActor: ({ headers }) => {
        const token = headers.get('authorization')
        if (token === null) throw new Unauthenticated('a token is required')
        return { tenantId: 'acme', actor: { kind: 'user', id: token } }
      },
    })
    const refused = await ask('{ viewer { tenantId } }')
    expect(refused.status).toBe(401)
    expect(refused.body.errors[0]).toEqual({
      message: 'a token is required',
      extensions: { code: 'UNAUTHENTICATED' },
    })
    const { body } = await ask('{ viewer { tenantId actor { displayName } } }', { authorization: 'ann' })
    expect(body.data.viewer).toEqual({ tenantId: 'acme', actor: { displayName: 'ann' } })
  })

  it('says which workspaces a caller may use', async () => {
    const { ask } = gatewayWith({ authorize: ({ workspaceId }) => workspaceId === 'open' })
    const { body } = await ask('{ workspace(workspaceId: "shut") { headSeq } }')
    expect(body.errors[0].extensions.code).toBe('FORBIDDEN')
    expect((await ask('{ workspace(workspaceId: "open") { headSeq } }')).body.data.workspace.headSeq).toBe(0)
  })

  it('may do without GraphiQL', async () => {
    const { gateway } = gatewayWith({ graphiql: false })
    const page = await gateway.fetch(
      new Request('http://gateway/graphql', { headers: { accept: 'text/html' } }),
    )
    expect(page.status).toBe(406)
  })

  it('closes the gateway: it is no longer ready, and still answers what is under way', async () => {
    const { gateway, ask, get } = gatewayWith()
    await gateway.close()
    const ready = await get('/ready')
    expect([ready.status, await ready.json()]).toEqual([503, { status: 'stopping' }])
    expect((await get('/health')).status).toBe(200)
    expect((await ask('{ viewer { tenantId } }')).status).toBe(200)
  })

  it('waits for operations under way before it stops turns, and for those no longer than it is told to', async () => {
    const storage = new MemoryStorage()
    const { gateway, ask } = gatewayWith({ storage })
    const head = deferred<number>()
    storage.head = () => head.promise
    let isAnswered = false
    const answer = ask('{ workspace(workspaceId: "w1") { headSeq } }').finally(() => {
      isAnswered = true
    })
    await gateway.close({ timeout: 50 })
    expect(isAnswered).toBe(false)
    const closed = gateway.close().then(() => isAnswered)
    head.resolve(7)
    expect((await answer).body.data.workspace.headSeq).toBe(7)
    expect(await closed).toBe(true)
  })
})
