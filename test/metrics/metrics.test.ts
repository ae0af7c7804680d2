/** What a gateway counts, and what it never says while it does. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it, onTestFinished } from 'vitest'
import type { GatewayOptions } from '../../src/app.js'
import { createGateway, insecureHeaderAuth, migrate, openPrismaStorage, Workspaces } from '../../src/index.js'
import { echoAgent } from '../../src/runner/agents/echo.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import { StorageUnavailable } from '../../src/storage/port.js'
import { openEventStream } from '../support/eventStreams.js'
import { post, until } from '../support/gateway.js'
import { metricsOf, samplesIn, totalOf } from '../support/metrics.js'
import { createMigratedDatabase, describePostgres } from '../support/postgres.js'
import { createThread, postMany, postMessage } from '../support/posts.js'
import { type Serving, serve } from '../support/serving.js'
import { openSocket } from '../support/sockets.js'
import { temporaryDirectory } from '../support/tmp.js'

const serving = async (options: Partial<GatewayOptions> = {}): Promise<Serving> => {
  const served = await serve({ metrics: 'served', ...options })
  onTestFinished(async () => void (await served.stop()))
  return served
}

/** The value of a metric once it is what it should be. */
const come = (url: string, name: string, labels: Record<string, string>, value: number) =>
  until(20_000, `${name} ${JSON.stringify(labels)} to be ${value}`, async () =>
    totalOf(await metricsOf(url), name, labels) === value ? true : null,
  )

describe('requests and operations', () => {
  it('are counted by what they are and what became of them', async () => {
    const { url } = await serving()
    await createThread(url)
    await post(url, { query: 'query Viewer { viewer { tenantId } }' })
    await post(url, { query: 'query Viewer { viewer { nothing } }' })
    await post(url, { query: '{' })
    await post(url, { query: '{ viewer { tenantId } }' }, { 'x-user': '' })
    await fetch(`${url}/nowhere/at/all`)
    await fetch(`${url}/health`, { method: 'PROPFIND' })
    const text = await metricsOf(url)
    const operations = (labels: Record<string, string>) => totalOf(text, 'artifactr_operations_total', labels)
    expect(operations({ type: 'mutation', name: 'anonymous', outcome: 'ok' })).toBe(1)
    expect(operations({ type: 'query', name: 'Viewer', outcome: 'ok' })).toBe(1)
    expect(operations({ type: 'query', name: 'Viewer', outcome: 'GRAPHQL_VALIDATION_FAILED' })).toBe(1)
    expect(operations({ type: 'none', outcome: 'GRAPHQL_PARSE_FAILED' })).toBe(1)
    expect(operations({ type: 'none', outcome: 'UNAUTHENTICATED' })).toBe(1)
    expect(totalOf(text, 'artifactr_operation_duration_seconds_count')).toBe(5)
    const requests = (labels: Record<string, string>) =>
      totalOf(text, 'artifactr_http_requests_total', labels)
    expect(requests({ method: 'POST', path: '/graphql', status: '200' })).toBe(2)
    expect(requests({ method: 'POST', path: '/graphql', status: '401' })).toBe(1)
    expect(requests({ path: 'other', status: '404' })).toBe(1)
    expect(requests({ method: 'other', path: '/health', status: '405' })).toBe(1)
    expect(totalOf(text, 'process_cpu_seconds_total')).toBeGreaterThan(0)
    expect(text).toContain('nodejs_eventloop_lag_p99_seconds')
  })

  it('are counted over WebSocket as over HTTP', async () => {
    const { url } = await serving()
    const client = await openSocket(url)
    await client.init()
    client.subscribe('a', { query: 'query Viewer { viewer { tenantId } }' })
    client.subscribe('b', { query: 'query Viewer { viewer { nothing } }' })
    client.subscribe('c', { query: '{' })
    for (const id of ['a', 'b', 'c']) await client.over(id)
    const text = await metricsOf(url)
    const outcomes = samplesIn(text)
      .filter(({ name }) => name === 'artifactr_operations_total')
      .map(({ labels, value }) => [labels['type'], labels['name'], labels['outcome'], value])
    expect(outcomes.sort()).toEqual([
      ['none', 'none', 'GRAPHQL_PARSE_FAILED', 1],
      ['query', 'Viewer', 'GRAPHQL_VALIDATION_FAILED', 1],
      ['query', 'Viewer', 'ok', 1],
    ])
  })

  it('are counted one by one in a batch', async () => {
    const { url } = await serving()
    await post(url, [
      { query: 'query Viewer { viewer { tenantId } }' },
      { query: '{' },
      { query: 'query Other { viewer { nothing } }' },
    ])
    const text = await metricsOf(url)
    const operations = (labels: Record<string, string>) => totalOf(text, 'artifactr_operations_total', labels)
    expect(operations({ type: 'query', name: 'Viewer', outcome: 'ok' })).toBe(1)
    expect(operations({ type: 'none', outcome: 'GRAPHQL_PARSE_FAILED' })).toBe(1)
    expect(operations({ type: 'query', name: 'Other', outcome: 'GRAPHQL_VALIDATION_FAILED' })).toBe(1)
    expect(operations({})).toBe(3)
  })

  it('are counted by their first error when the storage fails them', async () => {
    const storage = Object.assign(new MemoryStorage(), {
      head: () => Promise.reject(new StorageUnavailable('down')),
      transaction: () => Promise.reject(new Error('broken')),
    })
    const { url } = await serving({ storage })
    await post(url, { query: '{ workspace(workspaceId: "w1") { headSeq } }' })
    await post(url, { query: 'mutation { createThread(input: { workspaceId: "w1" }) { __typename } }' })
    const text = await metricsOf(url)
    expect(totalOf(text, 'artifactr_operations_total', { outcome: 'SERVICE_UNAVAILABLE' })).toBe(1)
    expect(totalOf(text, 'artifactr_operations_total', { outcome: 'INTERNAL_SERVER_ERROR' })).toBe(1)
    expect(totalOf(text, 'artifactr_commands_total', { command: 'create_thread', outcome: 'failed' })).toBe(1)
  })
})

describe('commands, turns and subscribers', () => {
  it('tell how many threads are owed a turn', async () => {
    const { url } = await serving({ agent: echoAgent })
    await createThread(url)
    await postMessage(url, '/slow 60000')
    await come(url, 'artifactr_threads_owed', {}, 0)
    await postMessage(url, 'waits for its turn')
    await come(url, 'artifactr_threads_owed', {}, 1)
  })

  it('are counted', async () => {
    const { url } = await serving({ agent: echoAgent })
    await createThread(url)
    await postMessage(url, '/slow 60000', { messageId: 'm1' })
    await come(url, 'artifactr_turns_active', {}, 1)
    await expect(postMessage(url, 'again', { messageId: 'm1' })).rejects.toThrow('INVALID_STATE')
    const sse = await openEventStream(url)
    const client = await openSocket(url)
    await client.init()
    client.subscribe('a')
    await client.come('the replay', () => client.of('a').length > 0)
    const text = await metricsOf(url)
    const commands = (labels: Record<string, string>) => totalOf(text, 'artifactr_commands_total', labels)
    expect(commands({ command: 'post_message', outcome: 'accepted' })).toBe(1)
    expect(commands({ command: 'post_message', outcome: 'invalid_state' })).toBe(1)
    expect(totalOf(text, 'artifactr_commit_batch_size_count')).toBeGreaterThanOrEqual(3)
    expect(totalOf(text, 'artifactr_turns_started_total')).toBe(1)
    for (const transport of ['sse', 'websocket'])
      expect(totalOf(text, 'artifactr_subscribers', { transport, field: 'events' })).toBe(1)
    const runs = await post(url, {
      query: '{ workspace(workspaceId: "w1") { runs { edges { node { runId } } } } }',
    })
    const { runId } = runs.body.data.workspace.runs.edges[0].node
    await post(url, {
      query: 'mutation ($runId: ID!) { stopRun(input: { workspaceId: "w1", runId: $runId }) { __typename } }',
      variables: { runId },
    })
    sse.drop()
    client.socket.terminate()
    await come(url, 'artifactr_turns_active', {}, 0)
    await come(url, 'artifactr_subscribers', {}, 0)
    const after = await metricsOf(url)
    expect(totalOf(after, 'artifactr_turns_ended_total')).toBe(1)
    expect(totalOf(after, 'artifactr_subscriptions_ended_total', { ending: 'dropped' })).toBe(2)
  })

  it('are counted in rounds on SQLite, where one carries many', async () => {
    const url = `file:${temporaryDirectory()}/artifactr.db`
    await migrate(url)
    const storage = await openPrismaStorage({ url })
    onTestFinished(() => storage.close())
    const gateway = await serving({ storage })
    await createThread(gateway.url)
    const workspace = new Workspaces(storage).open('dev', 'w1', { actor: { kind: 'user', id: 'ada' } })
    const message = { type: 'post_message', threadId: 't1', content: 'hello' } as const
    await Promise.all(Array.from({ length: 40 }, () => workspace.commit(message)))
    const text = await metricsOf(gateway.url)
    expect(totalOf(text, 'artifactr_commit_batch_size_sum')).toBe(41)
    expect(totalOf(text, 'artifactr_commit_batch_size_count')).toBe(2)
    expect(totalOf(text, 'artifactr_commit_duration_seconds_sum')).toBeGreaterThan(0)
    expect(text).not.toContain('artifactr_database_connections')
  })
})

describePostgres('on PostgreSQL', () => {
  it('connections, conflicts with other processes and an unavailable database are counted', async () => {
    const { url, drop } = await createMigratedDatabase()
    onTestFinished(drop)
    const open = () => openPrismaStorage({ url, poolSize: 4, patience: 4_000 })
    const storages = await Promise.all([open(), open()])
    onTestFinished(async () => void (await Promise.all(storages.map((storage) => storage.close()))))
    const [one, two] = await Promise.all(storages.map((storage) => serving({ storage })))
    if (one === undefined || two === undefined) throw new Error('unreachable')
    await createThread(one.url)
    await Promise.all([postMany(one.url, 60), postMany(two.url, 60)])
    const texts = await Promise.all([one, two].map(({ url }) => metricsOf(url)))
    const sum = (name: string, labels = {}) =>
      texts.reduce((all, text) => all + totalOf(text, name, labels), 0)
    expect(sum('artifactr_commit_batch_size_sum')).toBe(121)
    expect(sum('artifactr_commit_retries_total', { cause: 'conflict' })).toBeGreaterThan(0)
    const connections = totalOf(texts[0] ?? '', 'artifactr_database_connections')
    expect(connections).toBeGreaterThan(0)
    expect(connections).toBeLessThanOrEqual(4)
    await drop()
    await post(one.url, { query: 'mutation { createThread(input: { workspaceId: "w1" }) { __typename } }' })
    const after = await metricsOf(one.url)
    expect(totalOf(after, 'artifactr_storage_unavailable_total')).toBeGreaterThan(0)
    expect(totalOf(after, 'artifactr_commit_retries_total', { cause: 'unavailable' })).toBeGreaterThan(0)
    expect(totalOf(after, 'artifactr_commands_total', { outcome: 'unavailable' })).toBe(1)
  })
})

describe('hostile traffic', () => {
  it('brings no id into the metrics, and no end of series', async () => {
    const { url } = await serving({ agent: echoAgent })
    const letters = (count: number) =>
      Array.from({ length: count }, () => String.fromCharCode(97 + Math.floor(Math.random() * 26))).join('')
    const series = async () =>
      samplesIn(await metricsOf(url)).filter(({ name }) => name.startsWith('artifactr_'))
    const ids: string[] = []
    const attack = async () => {
      // An id of letters alone can be taken for a name.
      const tenant = `tenant${letters(12)}`
      const user = `user${letters(12)}`
      const [workspace, thread, message] = [letters(16), randomUUID(), letters(14)]
      ids.push(tenant, user, workspace, thread, message)
      const headers = { 'x-tenant': tenant, 'x-user': user, 'x-request-id': thread }
      await createThread(url, thread, workspace, headers)
      await postMessage(url, 'hi', { headers, threadId: thread, workspaceId: workspace, messageId: message })
      const again = `mutation P_${message} { postMessage(input: { workspaceId: "${workspace}", threadId: "${thread}",
        messageId: "${message}", content: "again" }) { __typename } }`
      await post(url, { query: again }, headers)
      for (const name of [user, tenant, `By_${user}`, `T_${thread.replaceAll('-', '_')}`])
        await post(url, { query: `query ${name} { viewer { tenantId } }` }, headers)
      const named = `query ${workspace}($w: ID!) { ${message}: workspace(workspaceId: $w) { headSeq } }`
      await post(url, { query: named, variables: { w: workspace } }, headers)
      await post(url, { query: `{ ${user}: nothing }` }, headers)
      await fetch(`${url}/${workspace}/${user}`)
      await fetch(`${url}/graphql?query=${message}`, { method: 'DELETE' })
      const stream = await openEventStream(url, {
        headers,
        variables: { workspaceId: workspace, afterSeq: 0 },
      })
      await stream.comeTo(2)
      stream.drop()
    }
    for (let n = 0; n < 5; n++) await attack()
    const before = await series()
    for (let n = 0; n < 15; n++) await attack()
    const after = await series()
    expect(after.length).toBeLessThanOrEqual(before.length + 20)
    const text = await metricsOf(url)
    expect(ids.filter((id) => text.includes(id))).toEqual([])
    for (let n = 0; n < 300; n++) await post(url, { query: `query ${letters(8)} { viewer { tenantId } }` })
    const names = new Set((await series()).map(({ labels }) => labels['name']))
    expect(names.size).toBeLessThanOrEqual(104)
  }, 90_000)
})

describe('a library’s gateway', () => {
  const ask = async (options: Partial<GatewayOptions>) => {
    const gateway = createGateway({
      storage: new MemoryStorage(),
      resolveActor: insecureHeaderAuth,
      ...options,
    })
    onTestFinished(() => gateway.close())
    const response = await gateway.fetch(new Request('http://gateway/metrics'))
    return { status: response.status, metrics: await gateway.metrics() }
  }

  it('collects metrics and serves them to nobody unless it is told', async () => {
    const { status, metrics } = await ask({})
    expect(status).toBe(404)
    expect(metrics).toContain('artifactr_turns_active 0')
  })

  it('serves them where everything else is, or collects none', async () => {
    expect((await ask({ metrics: 'served' })).status).toBe(200)
    expect(await ask({ metrics: 'off' })).toEqual({ status: 404, metrics: '' })
  })

  it('has metrics of its own beside another', async () => {
    const one = await serving()
    const two = await serving()
    await createThread(one.url)
    expect(totalOf(await metricsOf(two.url), 'artifactr_commands_total')).toBe(0)
  })
})
