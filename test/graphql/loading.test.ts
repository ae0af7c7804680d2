import { beforeAll, describe, expect, it } from 'vitest'
import { MemoryStorage } from '../../src/storage/memory.js'
import type { Storage } from '../../src/storage/port.js'
import { at, createThread, gateway, mutate } from './gateway.js'

/** A storage that counts what is asked of it. */
const counting = (storage: Storage) => {
  const calls: string[] = []
  const proxy = new Proxy(storage, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name)
      if (typeof value !== 'function') return value
      return (...args: unknown[]) => {
        calls.push(String(name))
        return Reflect.apply(value, target, args)
      }
    },
  })
  return { storage: proxy, calls }
}

const { storage, calls } = counting(new MemoryStorage())
const here = gateway({ storage })

beforeAll(async () => {
  await createThread(here, 't1')
  const patch = { textEdits: { edits: [{ old: '', new: 'x' }] } }
  for (let i = 0; i < 200; i++) {
    await mutate(here, 'createArtifact', { artifactId: `a${i}`, kind: 'note', data: { title: `${i}` } })
    await mutate(here, 'proposeChange', {
      proposalId: `p${i}`,
      change: { edit: { artifactId: `a${i}`, baseVersion: 1, patch } },
    })
  }
  const agent = { kind: 'agent', threadId: 't1', runId: 'r1', name: 'assistant' } as const
  const workspace = here.workspaces.open('acme', 'w1', { actor: agent })
  await workspace.record({ type: 'run_started', runId: 'r1', threadId: 't1', trigger: 'api' })
  for (let i = 0; i < 100; i++) {
    await workspace.commit({ type: 'post_message', threadId: 't1', messageId: `m${i}`, content: 'Hi' })
  }
})

const callsOf = async (query: string) => {
  calls.length = 0
  const data = await here.run(query)
  return { data, calls: [...calls] }
}

describe('what a request reads', () => {
  it('is a list and a load for every 32 of 200 proposals with their artifacts', async () => {
    const { data, calls } = await callsOf(
      '{ workspace(workspaceId: "w1") { proposals(first: 200) { edges { node { proposalId artifact { artifactId } } } } } }',
    )
    const edges = at(data, 'workspace', 'proposals', 'edges')
    expect(edges).toHaveLength(200)
    expect(at(edges, 199, 'node')).toEqual({ proposalId: 'p199', artifact: { artifactId: 'a199' } })
    expect(calls).toEqual(['proposals', ...Array(7).fill('load')])
  })

  it('is one load for everything that is asked for by id', async () => {
    const { calls } = await callsOf(`{ workspace(workspaceId: "w1") {
      a: thread(threadId: "t1") { title } b: artifact(artifactId: "a1") { kind } c: artifact(artifactId: "a2") { kind }
      d: proposal(proposalId: "p1") { status } e: run(runId: "r1") { status }
      f: messageIdUsed(messageId: "m1") g: messageIdUsed(messageId: "m2") } }`)
    expect(calls).toEqual(['load'])
  })

  it('is one load for the runs of a page of messages', async () => {
    const { data, calls } = await callsOf(`{ workspace(workspaceId: "w1") { thread(threadId: "t1") {
      messages(first: 100) { edges { node { run { runId } } } } } } }`)
    expect(at(data, 'workspace', 'thread', 'messages', 'edges', 99)).toEqual({
      node: { run: { runId: 'r1' } },
    })
    expect(calls).toEqual(['load', 'events', 'load'])
  })

  it('is a load for every 32 of many nodes of a workspace', async () => {
    const ids = Array.from({ length: 200 }, (_, i) =>
      Buffer.from(JSON.stringify(['Artifact', 'acme', 'w1', `a${i}`])).toString('base64url'),
    )
    const { data, calls } = await callsOf(
      `{ nodes(ids: ${JSON.stringify(ids)}) { ... on Artifact { artifactId } } }`,
    )
    expect(at(data, 'nodes', 199)).toEqual({ artifactId: 'a199' })
    expect(calls).toEqual(Array(7).fill('load'))
  })

  it('looks beyond a page only when it is asked whether there is more', async () => {
    const page = await callsOf(
      '{ workspace(workspaceId: "w1") { artifacts(first: 1) { edges { cursor } pageInfo { hasNextPage hasPreviousPage } } } }',
    )
    expect(page.calls).toEqual(['artifacts'])
    const cursor = at(page.data, 'workspace', 'artifacts', 'edges', 0, 'cursor')
    const after = `{ workspace(workspaceId: "w1") { artifacts(first: 1, after: "${cursor}") { edges { cursor } } } }`
    expect((await callsOf(after)).calls).toEqual(['artifacts'])
  })

  it('is new after each mutation of a document', async () => {
    const mode = (value: string) =>
      `setThreadMode(input: { workspaceId: "w1", threadId: "t1", mode: ${value} }) {
        ... on SetThreadModeSuccess { thread { mode } } }`
    const data = await here.run(`mutation { a: ${mode('SUGGEST')} b: ${mode('EDIT')} }`)
    expect(data).toEqual({ a: { thread: { mode: 'SUGGEST' } }, b: { thread: { mode: 'EDIT' } } })
  })
})
