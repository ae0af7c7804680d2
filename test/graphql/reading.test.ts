import { beforeEach, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/core/actors.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import { at, createThread, type Gateway, gateway, postMessage } from './gateway.js'

let here: Gateway
beforeEach(() => {
  here = gateway()
})

describe('the viewer', () => {
  it('is who the credentials say, in the words of their kind', async () => {
    const cases: [Actor, Record<string, unknown>][] = [
      [
        { kind: 'user', id: 'ada', name: 'Ada' },
        { __typename: 'UserActor', kind: 'USER', displayName: 'Ada', userId: 'ada', userName: 'Ada' },
      ],
      [
        { kind: 'user', id: 'bob' },
        { __typename: 'UserActor', kind: 'USER', displayName: 'bob', userId: 'bob', userName: null },
      ],
      [
        { kind: 'agent', threadId: 't1', runId: 'r1', name: 'assistant' },
        {
          __typename: 'AgentActor',
          kind: 'AGENT',
          displayName: 'assistant',
          threadId: 't1',
          runId: 'r1',
          name: 'assistant',
        },
      ],
      [
        { kind: 'external_agent', clientId: 'c1' },
        {
          __typename: 'ExternalAgentActor',
          kind: 'EXTERNAL_AGENT',
          displayName: 'c1',
          clientId: 'c1',
          agentName: null,
        },
      ],
      [
        { kind: 'system', name: 'import' },
        { __typename: 'SystemActor', kind: 'SYSTEM', displayName: 'import', name: 'import' },
      ],
      [
        { kind: 'evaluator', name: 'judge', version: '2' },
        {
          __typename: 'EvaluatorActor',
          kind: 'EVALUATOR',
          displayName: 'judge',
          name: 'judge',
          version: '2',
        },
      ],
    ]
    for (const [actor, expected] of cases) {
      const data = await gateway({ actor }).run(`{ viewer { tenantId actor {
        __typename kind displayName
        ... on UserActor { userId userName: name }
        ... on AgentActor { threadId runId name }
        ... on ExternalAgentActor { clientId agentName: name }
        ... on SystemActor { name }
        ... on EvaluatorActor { name version }
      } } }`)
      expect(data).toEqual({ viewer: { tenantId: 'acme', actor: expected } })
    }
  })
})

describe('a workspace', () => {
  it('is empty until it is written to', async () => {
    const data = await here.run(`{ workspace(workspaceId: "new") {
      workspaceId headSeq thread(threadId: "t1") { id } run(runId: "r1") { id } messageIdUsed(messageId: "m1")
      threads { edges { cursor } } runs { edges { cursor } } events { seq } } }`)
    expect(data).toEqual({
      workspace: {
        workspaceId: 'new',
        headSeq: 0,
        thread: null,
        run: null,
        messageIdUsed: false,
        threads: { edges: [] },
        runs: { edges: [] },
        events: [],
      },
    })
  })

  it('is FORBIDDEN where authorize refuses', async () => {
    const { data, errors } = await gateway({ authorize: ({ workspaceId }) => workspaceId === 'mine' }).ask(
      '{ mine: workspace(workspaceId: "mine") { headSeq } }',
    )
    expect({ data, errors }).toEqual({ data: { mine: { headSeq: 0 } }, errors: [] })
    const refused = await gateway({ authorize: () => false }).ask(
      '{ workspace(workspaceId: "w1") { headSeq } }',
    )
    expect(refused.errors).toMatchObject([{ path: ['workspace'], extensions: { code: 'FORBIDDEN' } }])
  })

  it('is authorised once in a request', async () => {
    let asked = 0
    const { run } = gateway({
      authorize: async () => {
        asked++
        return true
      },
    })
    await run('{ a: workspace(workspaceId: "w1") { headSeq } b: workspace(workspaceId: "w1") { headSeq } }')
    expect(asked).toBe(1)
    await run('{ workspace(workspaceId: "w1") { headSeq } }')
    expect(asked).toBe(2)
  })

  it('knows which message ids are used', async () => {
    await createThread(here, 't1')
    await postMessage(here, { messageId: 'm1' })
    const data = await here.run(
      '{ workspace(workspaceId: "w1") { a: messageIdUsed(messageId: "m1") b: messageIdUsed(messageId: "M1") } }',
    )
    expect(data).toEqual({ workspace: { a: true, b: false } })
  })

  it('refuses ids that are none, naming the argument', async () => {
    const fields: [string, string][] = [
      ['{ workspace(workspaceId: "") { id } }', 'workspaceId'],
      ['{ workspace(workspaceId: "w1") { thread(threadId: "") { id } } }', 'threadId'],
      ['{ workspace(workspaceId: "w1") { run(runId: "a\\u0000b") { id } } }', 'runId'],
      ['{ workspace(workspaceId: "w1") { messageIdUsed(messageId: "a\\nb") } }', 'messageId'],
      ['{ workspace(workspaceId: "w1") { runs(threadId: "") { edges { cursor } } } }', 'threadId'],
      ['{ workspace(workspaceId: "w1") { artifact(artifactId: "") { id } } }', 'artifactId'],
      ['{ workspace(workspaceId: "w1") { proposal(proposalId: "") { id } } }', 'proposalId'],
      ['{ workspace(workspaceId: "w1") { artifacts(kind: "a\\u0000") { edges { cursor } } } }', 'kind'],
      ['{ workspace(workspaceId: "w1") { events(threadIds: ["t1", ""]) { seq } } }', 'threadIds.1'],
    ]
    for (const [query, argument] of fields) {
      const { errors } = await here.ask(query)
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument } }])
    }
  })

  it('is asked for by at most 200 ids, of which none is looked at where there are more', async () => {
    const ids = (count: number, id = 't') => Array.from({ length: count }, () => id)
    const fields = {
      threadIds: '{ workspace(workspaceId: "w1") { events(first: 1, threadIds: $ids) { seq } } }',
      focus: '{ workspace(workspaceId: "w1") { changeNotes(afterSeq: 0, focus: $ids) { text } } }',
    }
    for (const [argument, selection] of Object.entries(fields)) {
      const ask = (given: string[]) => here.ask(`query ($ids: [ID!]) ${selection}`, { ids: given })
      expect((await ask(ids(200))).errors).toEqual([])
      for (const given of [ids(201), ids(201, '')])
        expect((await ask(given)).errors).toMatchObject([
          {
            message: `${argument} must not have more than 200 ids`,
            extensions: { code: 'BAD_USER_INPUT', argument },
          },
        ])
    }
  })

  it('fails with what was thrown, masked, when something unforeseen happens', async () => {
    class Broken extends MemoryStorage {
      override async head(): Promise<number> {
        throw new Error('the secret of the storage')
      }
    }
    const { errors } = await gateway({ storage: new Broken() }).ask(
      '{ workspace(workspaceId: "w1") { headSeq } }',
    )
    expect(errors).toHaveLength(1)
    expect(JSON.stringify(errors)).not.toContain('secret')
  })
})

describe('the log', () => {
  beforeEach(async () => {
    await createThread(here, 't1')
    await createThread(here, 't2')
    for (let i = 1; i <= 60; i++) await postMessage(here, { messageId: `m${i}`, threadId: `t${1 + (i % 2)}` })
  })

  const seqs = async (args: string): Promise<unknown> => {
    const data = await here.run(`{ workspace(workspaceId: "w1") { events${args} { seq } } }`)
    const events = at(data, 'workspace', 'events')
    return Array.isArray(events) ? events.map((event) => at(event, 'seq')) : events
  }
  const range = (from: number, to: number) => Array.from({ length: to - from + 1 }, (_, i) => from + i)

  it('reads a window between two positions, oldest first', async () => {
    expect(await seqs('')).toEqual(range(1, 50))
    expect(await seqs('(afterSeq: null)')).toEqual(range(1, 50))
    expect(await seqs('(afterSeq: 50)')).toEqual(range(51, 62))
    expect(await seqs('(afterSeq: 2, beforeSeq: 6)')).toEqual([3, 4, 5])
    expect(await seqs('(first: 2, afterSeq: 10)')).toEqual([11, 12])
    expect(await seqs('(last: 2, beforeSeq: 10)')).toEqual([8, 9])
    expect(await seqs('(first: 0)')).toEqual([])
    expect(await seqs('(beforeSeq: 0)')).toEqual([])
    expect(await seqs('(afterSeq: 9007199254740991)')).toEqual([])
    expect(await seqs('(last: 200)')).toEqual(range(1, 62))
  })

  it('reads what concerns the followers of threads', async () => {
    expect(await seqs('(threadIds: ["t2"], first: 3)')).toEqual([2, 3, 5])
    expect(await seqs('(threadIds: ["t1", "t2"], first: 3)')).toEqual([1, 2, 3])
    expect(await seqs('(threadIds: [])')).toEqual([])
    expect(await seqs('(threadIds: null, first: 3)')).toEqual([1, 2, 3])
  })

  it('holds envelopes that say who did what, when and where', async () => {
    const traced = gateway({ traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01' })
    await createThread(traced, 't1')
    const data = await traced.run(`{ workspace(workspaceId: "w1") { events {
      seq id ts workspaceId threadId runId traceparent actor { displayName }
      event { __typename type ... on ThreadCreatedEvent { threadId title } } } } }`)
    const envelope = at(data, 'workspace', 'events', 0)
    expect(envelope).toMatchObject({
      seq: 1,
      workspaceId: 'w1',
      threadId: 't1',
      runId: null,
      traceparent: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
      actor: { displayName: 'Ada' },
      event: { __typename: 'ThreadCreatedEvent', type: 'thread_created', threadId: 't1', title: '' },
    })
    expect(at(envelope, 'ts')).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(Math.abs(Date.parse(String(at(envelope, 'ts'))) - Date.now())).toBeLessThan(60_000)
  })

  it('refuses windows that make no sense, naming the argument', async () => {
    const cases: [string, string][] = [
      ['(first: -1)', 'first'],
      ['(last: 201)', 'last'],
      ['(first: 1, last: 1)', 'last'],
    ]
    for (const [args, argument] of cases) {
      const { errors } = await here.ask(`{ workspace(workspaceId: "w1") { events${args} { seq } } }`)
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument } }])
    }
  })
})
