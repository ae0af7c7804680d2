/** An operation that would cost too much is refused before anything of it is done. */
import { parse } from 'graphql'
import { describe, expect, it } from 'vitest'
import { sizeOf } from '../../../src/graphql/inputs.js'
import { createSchema } from '../../../src/graphql/schema.js'
import { exampleOperations } from '../../../src/http/examples.js'
import { costOf } from '../../../src/http/limits/cost.js'
import { EVENTS } from '../../support/eventStreams.js'
import { post } from '../../support/gateway.js'
import { askBothWays, askOverWebSocket, CREATE_THREAD, codesIn, errorsIn } from '../../support/limits.js'
import { serving } from '../../support/serving.js'

const schema = createSchema()

const find = (query: string, variables: Record<string, unknown> = {}) => {
  const document = parse(query)
  const [operation] = document.definitions
  if (operation?.kind !== 'OperationDefinition') throw new Error('no operation')
  return costOf({ schema, document, operation, variables }, false)
}

const cost = (query: string, variables?: Record<string, unknown>): number => {
  const found = find(query, variables)
  if ('cost' in found) return found.cost
  throw new Error(JSON.stringify(found))
}

const inThread = (selection: string) =>
  `{ workspace(workspaceId: "w1") { thread(threadId: "t1") { ${selection} } } }`

const PAGE = `edges { cursor node { messageId content kind seq postedAt author { __typename displayName } } }
  pageInfo { hasNextPage endCursor }`

describe('the cost', () => {
  const base = cost(inThread('title')) - 1

  it('of a page grows with its size, which is 50 where nothing is said', () => {
    const page = (args: string) => cost(inThread(`messages${args} { edges { cursor } }`)) - base
    expect(page('(first: 1)')).toBe(250 + 10 + 2)
    expect(page('(first: 200)')).toBe(250 + 200 * 12)
    expect(page('(last: 200)')).toBe(page('(first: 200)'))
    expect(page('')).toBe(page('(first: 50)'))
    expect(page('(first: null, last: null)')).toBe(page(''))
  })

  it('of a page in a page is multiplied once for each list', () => {
    const query = (threads: number, messages: number) =>
      `{ workspace(workspaceId: "w1") { threads(first: ${threads}) { edges { node { messages(first: ${messages}) { edges { cursor } } } } } } }`
    const inner = 250 + 10 * 10 + 10 * 2
    expect(cost(query(20, 10))).toBe(10 + 250 + 20 * (10 + 1 + 1 + inner))
  })

  it('of the schema counts as often as it is asked for', () => {
    expect(cost('{ __schema { types { name } } }')).toBeGreaterThanOrEqual(10_000)
    expect(
      cost('{ a: __type(name: "Run") { name } b: __type(name: "Run") { name } }'),
    ).toBeGreaterThanOrEqual(20_000)
    expect(cost('{ __typename }')).toBe(1)
  })

  it('of a size that makes no sense is no bargain', () => {
    const sized = (first: unknown, last?: unknown) => {
      const query = `query ($first: Int, $last: Int) ${inThread('messages(first: $first, last: $last) { edges { cursor } }')}`
      return cost(query, { first, last }) - base
    }
    const most = 250 + 200 * 12
    expect(sized(2 ** 31 - 1)).toBe(most)
    expect(sized(201)).toBe(most)
    expect(sized(0, 200)).toBe(most)
    expect(sized(-5)).toBeGreaterThan(0)
    expect(sized(undefined)).toBe(sized(50))
    expect(sized(null)).toBe(sized(50))
    const byDefault = `query ($first: Int = 200) ${inThread('messages(first: $first) { edges { cursor } }')}`
    expect(cost(byDefault) - base).toBe(most)
  })

  it('of the log, of nodes and of change notes is that of what they read', () => {
    const inWorkspace = (selection: string) => cost(`{ workspace(workspaceId: "w1") { ${selection} } }`)
    expect(inWorkspace('events(first: 200) { seq }')).toBe(10 + 250 + 200 * 11)
    expect(inWorkspace('changeNotes(afterSeq: 0) { text }')).toBeGreaterThan(10_000)
    const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }'
    expect(cost(nodes, { ids: ['a', 'b', 'c'] })).toBe(3 * 100 + 3)
    expect(cost(nodes, { ids: [] })).toBe(1)
  })

  it('of a content or data is that of a long one', () => {
    const page = (field: string) => cost(inThread(`messages(first: 100) { edges { node { ${field} } } }`))
    expect(page('content') - page('kind')).toBe(100 * 24)
    const events = (field: string) =>
      cost(
        `{ workspace(workspaceId: "w1") { events(first: 100) { event { ... on MessagePostedEvent { ${field} } } } } }`,
      )
    expect(events('content') - events('messageId')).toBe(100 * 24)
  })

  it('of mutations is that of each, and of what is asked of its result', () => {
    const one = cost(`mutation { ${CREATE_THREAD} }`)
    expect(one).toBeGreaterThan(100)
    expect(cost(`mutation { a: ${CREATE_THREAD} b: ${CREATE_THREAD} }`)).toBe(2 * one)
  })

  const aliased = (count: number, field: string) =>
    Array.from({ length: count }, (_, index) => `a${index}: ${field} { __typename }`).join(' ')
  const feedback =
    'giveFeedback(input: { workspaceId: "w1", feedbackType: "f", target: { thread: { threadId: "t1" } }, value: $value })'
  const given = (value: unknown, uses = 1) =>
    cost(`mutation ($value: JSON!) { ${aliased(uses, feedback)} }`, { value })

  it('of an input is that of its values and its texts, wherever it is used', () => {
    const small = given(1)
    const values = given(Array.from({ length: 10_000 }, () => 0))
    expect(values - small).toBeCloseTo(2_000, -1)
    expect(given({ deep: { deeper: { list: Array.from({ length: 10_000 }, () => ({})) } } })).toBeCloseTo(
      values,
      -1,
    )
    expect(given('x'.repeat(1_000_000)) - small).toBeCloseTo(2_000, -1)
    expect(given({ ['x'.repeat(1_000_000)]: 1 }) - small).toBeCloseTo(2_000, -1)
    expect(
      given(
        Array.from({ length: 10_000 }, () => 0),
        7,
      ),
    ).toBe(7 * values)
    const inLiteral = feedback.replace('$value', `[${'0 '.repeat(10_000)}]`)
    expect(cost(`mutation { ${aliased(1, inLiteral)} }`)).toBe(values)
    const aroundVariable = feedback.replace('$value', '{ inner: $value }')
    const query = `mutation ($value: JSON!) { ${aliased(2, aroundVariable)} }`
    expect(cost(query, { value: Array.from({ length: 10_000 }, () => 0) })).toBeCloseTo(2 * values, -1)
  })

  it('of an input is found by looking into it once', () => {
    const list = Array.from({ length: 1_000 }, () => 0)
    expect(sizeOf({ input: { data: list } })).toEqual({ values: 1_003, units: 9 })
    list.push(0)
    expect(sizeOf({ input: { data: list } })).toEqual({ values: 1_003, units: 9 })
    expect(sizeOf([list, list])).toEqual({ values: 2_003, units: 0 })
    let deep: unknown = 'text'
    for (let level = 0; level < 100_000; level++) deep = [deep]
    expect(sizeOf(deep)).toEqual({ values: 100_001, units: 4 })
  })

  it('of a patch counts its steps, and more those that may double what there is', () => {
    const edit = 'editArtifact(input: { workspaceId: "w1", artifactId: "a1", baseVersion: 1, patch: $patch })'
    const patch = (value: object) =>
      cost(`mutation ($patch: PatchInput!) { ${aliased(1, edit)} }`, { patch: value })
    const jsonPatch = (count: number, op: string) =>
      patch({ jsonPatch: Array.from({ length: count }, () => ({ op, path: '/p', from: '/q' })) })
    const none = jsonPatch(0, 'remove')
    expect(jsonPatch(1_000, 'remove') - none).toBeGreaterThan(4_000)
    expect(jsonPatch(10_000, 'remove')).toBeLessThan(50_000)
    expect(jsonPatch(10, 'copy') - jsonPatch(10, 'move')).toBe(1_024)
    expect(jsonPatch(5_000, 'copy') - jsonPatch(5_000, 'move')).toBe(20_000)
    const edits = Array.from({ length: 1_000 }, () => ({ old: 'a', new: 'b' }))
    expect(patch({ textEdits: { edits } }) - none).toBeGreaterThan(20_000)
    const change = { edit: { artifactId: 'a1', baseVersion: 1, patch: { textEdits: { edits } } } }
    const propose = 'proposeChange(input: { workspaceId: "w1", change: $change })'
    expect(
      cost(`mutation ($change: ProposedChangeInput!) { ${aliased(1, propose)} }`, { change }),
    ).toBeGreaterThan(20_000)
    const respond = 'respondToProposal(input: { workspaceId: "w1", proposalId: "p1", decision: ACCEPT })'
    expect(cost(`mutation { ${aliased(1, respond)} }`)).toBeGreaterThan(2_000)
  })

  it('of values with long names is that of so many more', () => {
    const named = (length: number) => cost(inThread(`${'x'.repeat(length)}: title`))
    expect(named(199)).toBe(named(1))
    expect(named(200)).toBe(2 * named(1))
    expect(named(5_000)).toBe(26 * named(1))
    const inFragment = `${inThread('...F')} fragment F on Thread { ${'x'.repeat(200)}: title }`
    expect(cost(inFragment)).toBe(named(200))
  })

  it('of every day’s inputs is a fraction of the limit', () => {
    const create = 'createArtifact(input: { workspaceId: "w1", kind: "note", data: $value })'
    const text = 'x'.repeat(1_048_576)
    expect(
      cost(`mutation ($value: JSON!) { ${aliased(1, create)} }`, { value: { title: '', text } }),
    ).toBeLessThan(2_500)
    const message = 'postMessage(input: { workspaceId: "w1", threadId: "t1", content: $content })'
    const posting = `mutation ($content: String!) { ${aliased(10, message)} }`
    expect(cost(posting, { content: 'x'.repeat(65_536) })).toBeLessThan(2_500)
    const ops = Array.from({ length: 100 }, (_, n) => ({
      op: 'replace',
      path: `/items/${n}/done`,
      value: true,
    }))
    const edit = `editArtifact(input: { workspaceId: "w1", artifactId: "a1", baseVersion: 1, patch: { jsonPatch: $ops } })`
    expect(cost(`mutation ($ops: [JSON!]!) { ${aliased(1, edit)} }`, { ops })).toBeLessThan(1_000)
  })

  it('of fragments used again and again is found at once', () => {
    const levels = Array.from({ length: 300 }, (_, level) => {
      const inner = level === 299 ? 'title' : `...F${level + 1} ...F${level + 1}`
      return `fragment F${level} on Thread { ${inner} messages(first: 200) { edges { node { run { id } } } } }`
    })
    const before = performance.now()
    expect(cost(`${inThread('...F0')} ${levels.join(' ')}`)).toBeGreaterThan(1e80)
    expect(performance.now() - before).toBeLessThan(10_000)
  })

  it('leaves a client’s mistakes to be told as such', () => {
    const query = 'query ($ids: [ID!] = []) { nodes(ids: $ids) { id } }'
    expect(find(query, { ids: null })).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT' } }])
    expect(find(query, { ids: [{}] })).toMatchObject([{ message: expect.stringContaining('"$ids"') }])
  })
})

describe('an operation', () => {
  const many = inThread(
    Array.from({ length: 100 }, (_, index) => `a${index}: messages(first: 200) { ${PAGE} }`).join(' '),
  )

  it('that costs too much is refused, over HTTP and over a WebSocket, and told what it costs', async () => {
    const { url } = await serving()
    for (const answer of await askBothWays(url, { query: many })) {
      expect(codesIn(answer)).toEqual(['QUERY_TOO_COMPLEX'])
      expect(errorsIn(answer)[0]?.extensions).toMatchObject({ limit: 50_000, cost: cost(many) })
      expect(answer.body).not.toHaveProperty('data')
    }
    expect((await post(url, { query: many }, { accept: 'application/json' })).status).toBe(400)
  })

  it('is what counts, and not the others of its document', async () => {
    const { url } = await serving()
    const query = `query Small { viewer { tenantId } } query Big ${many}`
    expect((await post(url, { query, operationName: 'Small' })).status).toBe(200)
    expect(codesIn(await post(url, { query, operationName: 'Big' }))).toEqual(['QUERY_TOO_COMPLEX'])
  })

  it('is judged by its variables each time', async () => {
    const { url } = await serving({ limits: { maxCost: 1_000 } })
    const query = `query ($first: Int) ${inThread('messages(first: $first) { edges { cursor } }')}`
    for (const [first, codes] of [
      [10, []],
      [200, ['QUERY_TOO_COMPLEX']],
      [10, []],
    ] as const)
      for (const answer of await askBothWays(url, { query, variables: { first } }))
        expect(codesIn(answer)).toEqual(codes)
  })

  it('that changes something is refused as a whole', async () => {
    const { url } = await serving({ limits: { maxCost: 300 } })
    const query = `mutation { a: ${CREATE_THREAD} b: ${CREATE_THREAD} c: ${CREATE_THREAD} }`
    expect(codesIn(await post(url, { query }))).toEqual(['QUERY_TOO_COMPLEX'])
    const { body } = await post(url, { query: '{ workspace(workspaceId: "w1") { headSeq } }' })
    expect(body.data.workspace.headSeq).toBe(0)
  })

  it('that is a subscription is judged by what each of its results costs', async () => {
    const { url } = await serving({ limits: { maxCost: 3 } })
    const answer = await askOverWebSocket(url, {
      query: EVENTS,
      variables: { workspaceId: 'w1', afterSeq: 0 },
    })
    expect(codesIn(answer)).toEqual(['QUERY_TOO_COMPLEX'])
  })

  it('of every day costs a fraction of the limit, and the answer says how much', async () => {
    const { url } = await serving()
    const page = await post(url, { query: inThread(`messages(first: 200) { ${PAGE} }`) })
    expect(Number(page.headers.get('x-graphql-cost'))).toBeLessThan(10_000)
    for (const query of exampleOperations) {
      const { headers } = await post(url, { query })
      expect(Number(headers.get('x-graphql-cost'))).toBeLessThan(2_500)
    }
  })
})
