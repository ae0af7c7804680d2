/** The log says what happened, to whom and how long it took, and nothing of what anybody said: a marker is sent down every path, and looked for. */
import { randomBytes } from 'node:crypto'
import { pino } from 'pino'
import { describe, expect, it, onTestFinished } from 'vitest'
import { z } from 'zod'
import type { GatewayOptions } from '../../src/app.js'
import { listen } from '../../src/http/server.js'
import {
  createGateway,
  headerAuth,
  MemoryStorage,
  StorageUnavailable,
  serializeError,
} from '../../src/index.js'
import { openEventStream } from '../support/eventStreams.js'
import { type LogLine, post, startGateway, until } from '../support/gateway.js'
import { createMigratedDatabase, describePostgres, postgresUrl } from '../support/postgres.js'
import { createThread, postMessage } from '../support/posts.js'
import { openProxy } from '../support/proxy.js'
import { openSocket } from '../support/sockets.js'
import { query as runSql } from '../support/sql.js'

const MARKER = `marker${randomBytes(6).toString('hex')}`
const TRACE = '0af7651916cd43dd8448eb211c80319c'
const headers = {
  traceparent: `00-${TRACE}-b7ad6b7169203331-01`,
  'x-request-id': 'asked',
  'x-tenant': 'acme',
}
const secret = { authorization: `Bearer ${MARKER}`, cookie: `session=${MARKER}` }

/** Everything a client can say, said with the marker, over HTTP. */
const sayEverything = async (url: string): Promise<void> => {
  const ask = (query: string, variables: object = {}) =>
    post(url, { query, variables }, { ...headers, ...secret })
  await createThread(url, 't1', 'w1', headers)
  await postMessage(url, `hello ${MARKER}`, { headers: { ...headers, ...secret }, messageId: 'm1' })
  await expect(postMessage(url, MARKER, { headers, messageId: 'm1' })).rejects.toThrow('INVALID_STATE')
  for (const content of [`/note ${MARKER}`, `/fail ${MARKER}`, `/ask ${MARKER}?`])
    await postMessage(url, content, { headers })
  const create = `mutation Make($data: JSON!) { createArtifact(input: { workspaceId: "w1", kind: "note", data: $data }) {
    __typename ... on Rejection { code message } } }`
  await ask(create, { data: { title: MARKER, text: MARKER } })
  await ask(create, { data: { title: { [MARKER]: MARKER } } })
  await ask(create, { data: { [MARKER]: MARKER } })
  await ask(
    `mutation { createThread(input: { workspaceId: "w1", threadId: "${MARKER} \\u0000" }) { __typename } }`,
  )
  await ask(`{ ${MARKER} }`)
  await ask(`{ workspace(workspaceId: "${MARKER}\\u0000") { headSeq } }`)
  await ask(
    'query ($first: Int) { workspace(workspaceId: "w1") { threads(first: $first) { edges { cursor } } } }',
    {
      first: MARKER,
    },
  )
  await ask(`{ workspace(workspaceId: "w1") { threads(after: "${MARKER}") { edges { cursor } } } }`)
  await ask(`{ "${MARKER}`)
  await post(url, `{"query": "${MARKER}`, headers)
  await post(url, { query: '{ __typename }', [MARKER]: 1 }, headers)
  await post(url, MARKER, { ...headers, 'content-type': 'text/plain' })
  await post(
    url,
    { query: '{ __typename }' },
    { ...headers, 'x-user': `${MARKER}\u00ff`, traceparent: MARKER },
  )
  await fetch(`${url}/graphql?query=${encodeURIComponent(`{ ${MARKER} }`)}&variables=${MARKER}`)
}

/** The same over the two ways to subscribe. */
const followEverything = async (url: string): Promise<void> => {
  const following = { headers: { ...headers, ...secret }, variables: { workspaceId: 'w1', afterSeq: 0 } }
  const stream = await openEventStream(url, following)
  await stream.comeTo(2)
  stream.drop()
  const refused = await openEventStream(url, {
    ...following,
    headers: { ...headers, 'last-event-id': MARKER },
  })
  await until(20_000, 'the refusal', () => refused.isOver || null)
  const client = await openSocket(url, { headers: { cookie: MARKER } })
  await client.init({ 'x-tenant': 'acme', authorization: MARKER })
  client.subscribe('a')
  await client.come('the replay', () => client.of('a').length > 1)
  client.send({ id: 'a', type: 'complete' })
  for (const [id, query] of Object.entries({
    b: `{ ${MARKER} }`,
    c: `{ "${MARKER}`,
    d: `mutation { postMessage(input: { workspaceId: "w1", threadId: "t1", messageId: "m1", content: "${MARKER}" }) {
      __typename } }`,
    e: `subscription { events(workspaceId: "w1", threadIds: ["${MARKER}\\u0000"]) { __typename } }`,
  })) {
    client.subscribe(id, { query })
    await client.over(id)
  }
  client.send(`{"type": "${MARKER}"`)
  await client.closed
}

const linesAbout = (log: readonly LogLine[], message: string) => log.filter(({ msg }) => msg === message)

describe('the log of a process, at its most talkative', () => {
  it('has a line for whatever happened, and the marker in none', async () => {
    const gateway = await startGateway({ LOG_LEVEL: 'trace' })
    await sayEverything(gateway.url)
    await followEverything(gateway.url)
    await until(20_000, 'the turns to be over', () => linesAbout(gateway.log(), 'turn ended')[3] ?? null)
    await gateway.kill('SIGTERM')
    const log = gateway.log()
    const about = (message: string) => linesAbout(log, message)
    const common = { requestId: 'asked', tenant: 'acme', traceId: TRACE }
    expect(about('request')).toContainEqual(
      expect.objectContaining({ ...common, operationType: 'mutation', operationName: 'Make', status: 200 }),
    )
    expect(about('request')).toContainEqual(
      expect.objectContaining({ requestId: 'asked', codes: ['GRAPHQL_VALIDATION_FAILED'], status: 400 }),
    )
    expect(about('command refused')).toContainEqual(
      expect.objectContaining({ ...common, command: 'post_message', code: 'invalid_state', level: 20 }),
    )
    for (const transport of ['sse', 'websocket']) {
      const began = expect.objectContaining({ tenant: 'acme', transport, operationType: 'subscription' })
      expect(about('stream began')).toContainEqual(began)
      // One that was refused has no field.
      const isFollowed = (line: LogLine) => line['transport'] === transport && line['field'] === 'events'
      const ended = about('stream ended').find(isFollowed)
      expect(ended).toMatchObject({ ending: 'dropped' })
      expect(ended?.['sent']).toBeGreaterThan(1)
    }
    expect(about('operation')).toContainEqual(
      expect.objectContaining({ tenant: 'acme', transport: 'websocket', codes: ['invalid_state'] }),
    )
    expect(about('turn started')[0]).toMatchObject({ tenant: 'acme', workspace: 'w1', traceId: TRACE })
    const failed = about('turn ended').find((line) => line['status'] === 'failed')
    expect(failed).toMatchObject({ level: 40, runId: expect.stringMatching(/^run_/), reason: 'agent_failed' })
    expect(gateway.output()).not.toContain(MARKER)
    expect(gateway.errors()).toBe('')
  }, 60_000)
})

/** A gateway of a library, whose log is written as a process writes it. */
const serving = async (options: Partial<GatewayOptions>) => {
  let written = ''
  const into = {
    write: (line: string) => {
      written += line
    },
  }
  const logger = pino({ level: 'trace', serializers: { err: serializeError } }, into)
  const gateway = createGateway({
    storage: new MemoryStorage(),
    resolveActor: headerAuth,
    logger,
    ...options,
  })
  const server = await listen(gateway, { host: '127.0.0.1', port: 0 })
  onTestFinished(async () => void (await Promise.all([server.stop(1_000), gateway.close()])))
  return { url: server.url, written: () => written }
}

describe('what goes wrong is logged without what was said', () => {
  it.each([
    ['an error that repeats it', () => new Error(`could not store ${MARKER}`)],
    [
      'an error caused by one',
      () => new Error('failed', { cause: new Error(`of ${MARKER}\n  and ${MARKER}`) }),
    ],
    ['a parser’s error', () => wentWrong(() => JSON.parse(`${MARKER} is no JSON`))],
    [
      'a validation’s error',
      () => wentWrong(() => z.strictObject({ a: z.literal('x') }).parse({ a: 1, [MARKER]: 2 })),
    ],
    ['a wrong number', () => wentWrong(() => BigInt(MARKER))],
    ['a wrong address', () => wentWrong(() => new URL(MARKER))],
    [
      'a driver’s error',
      () => Object.assign(new Error(MARKER), { code: 'P2010', meta: { message: MARKER } }),
    ],
    [
      'an error with more in it',
      () => Object.assign(new TypeError('no'), { detail: `Key (id)=(${MARKER})` }),
    ],
    ['an error with a code that is none', () => Object.assign(new Error('no'), { code: MARKER })],
    ['a storage out of reach', () => new StorageUnavailable('down', { cause: new Error(`at ${MARKER}`) })],
    ['something that is no error', () => `text of ${MARKER}`],
  ])('%s', async (_, broken) => {
    const storage = new MemoryStorage()
    const { url, written } = await serving({
      storage: Object.assign(storage, {
        head: () => Promise.reject(broken()),
        transaction: () => Promise.reject(broken()),
        subscribe: () => ({ [Symbol.asyncIterator]: () => ({ next: () => Promise.reject(broken()) }) }),
      }),
    })
    await post(url, { query: '{ workspace(workspaceId: "w1") { headSeq } }' })
    await post(url, { query: 'mutation { createThread(input: { workspaceId: "w1" }) { __typename } }' })
    const client = await openSocket(url)
    await client.init()
    client.subscribe('a')
    await client.over('a')
    expect(written()).toContain('"err":{"type"')
    expect(written()).not.toContain(MARKER)
  })

  it('an agent that fails with its prompt, and whose failing cannot be recorded', async () => {
    let isBroken = false
    const storage = new MemoryStorage()
    const transaction = storage.transaction.bind(storage)
    const { url, written } = await serving({
      storage: Object.assign(storage, {
        transaction: (...work: Parameters<typeof transaction>) =>
          isBroken ? Promise.reject(new Error(`cannot keep ${MARKER}`)) : transaction(...work),
      }),
      agent: {
        // biome-ignore lint/correctness/useYield: it fails before it says anything
        run: async function* ({ prompt }) {
          isBroken = prompt?.includes('break') === true
          throw new Error(`cannot answer ${prompt}`)
        },
      },
    })
    await createThread(url)
    await postMessage(url, MARKER)
    await until(20_000, 'the failure', () => written().includes('"status":"failed"') || null)
    await postMessage(url, `break ${MARKER}`)
    await until(20_000, 'the loss', () => written().includes('a turn could not be carried out') || null)
    expect(written()).toContain('"status":"lost"')
    expect(written()).not.toContain(MARKER)
  })

  it('credentials that their check chokes on', async () => {
    const { url, written } = await serving({
      resolveActor: ({ headers }) => {
        throw new Error(`bad token ${headers.get('authorization')}`)
      },
    })
    expect((await post(url, { query: '{ __typename }' }, secret)).status).toBe(500)
    expect(written()).toContain('unforeseen error')
    expect(written()).not.toContain(MARKER)
  })
})

const wentWrong = (work: () => unknown): unknown => {
  try {
    return work()
  } catch (error) {
    return error
  }
}

describePostgres('with a database', () => {
  it('neither its password nor what it chokes on is in the output', async () => {
    const { url, drop } = await createMigratedDatabase()
    onTestFinished(drop)
    const role = `logged_${MARKER.replace('marker', '')}`
    await runSql(url, `CREATE ROLE ${role} SUPERUSER LOGIN PASSWORD '${MARKER}'`)
    onTestFinished(async () => void (await runSql(postgresUrl(), `DROP ROLE ${role}`)))
    const proxy = await openProxy(url)
    const address = new URL(proxy.url)
    address.username = role
    address.password = MARKER
    const gateway = await startGateway({ DATABASE_URL: address.href, LOG_LEVEL: 'trace' })
    await createThread(gateway.url)
    await postMessage(gateway.url, MARKER)
    await until(20_000, 'the turn to be over', () => linesAbout(gateway.log(), 'turn ended')[0] ?? null)
    await runSql(url, `UPDATE artifactr_threads SET body = '{"${MARKER}"'`)
    await expect(postMessage(gateway.url, MARKER)).rejects.toThrow('INTERNAL_SERVER_ERROR')
    await runSql(url, `UPDATE artifactr_events SET envelope = '${MARKER} is no JSON' WHERE seq = 2`)
    await post(gateway.url, { query: '{ workspace(workspaceId: "w1") { events { seq } } }' })
    await runSql(url, 'DROP TABLE artifactr_messages')
    await expect(postMessage(gateway.url, MARKER)).rejects.toThrow('INTERNAL_SERVER_ERROR')
    proxy.cut()
    await drop()
    await expect(postMessage(gateway.url, MARKER)).rejects.toThrow('SERVICE_UNAVAILABLE')
    await gateway.kill('SIGTERM')
    const errors = gateway.log().filter(({ err }) => err !== undefined)
    expect(errors.map(({ err }) => err)).toContainEqual(expect.objectContaining({ code: '42P01' }))
    expect(gateway.output()).toContain('a stored event cannot be read')
    expect(gateway.output()).not.toContain(MARKER)
    expect(gateway.errors()).not.toContain(MARKER)
  }, 90_000)

  it('that cannot be opened, its address is not repeated', async () => {
    const { url } = await createMigratedDatabase().then(async ({ url, drop }) => ({
      url,
      dropped: await drop(),
    }))
    const address = new URL(url)
    address.password = MARKER
    const env = { DATABASE_URL: address.href, START_TIMEOUT: '0' }
    await expect(startGateway(env)).rejects.toThrow(/^(?!.*marker).*DATABASE_URL/s)
  })
})
