import { beforeEach, describe, expect, it } from 'vitest'
import { parseGlobalId } from '../../src/graphql/ids.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import { at, createThread, type Gateway, gateway, postMessage } from './gateway.js'

const storage = new MemoryStorage()
let here: Gateway
let ids: { workspace: string; thread: string; message: string }

beforeEach(async () => {
  here = gateway({ storage })
  await createThread(here, 't1')
  await postMessage(here, { messageId: 'm1' })
  const data = await here.run(
    `{ workspace(workspaceId: "w1") { id thread(threadId: "t1") { id messages { edges { node { id } } } } } }`,
  )
  ids = {
    workspace: String(at(data, 'workspace', 'id')),
    thread: String(at(data, 'workspace', 'thread', 'id')),
    message: String(at(data, 'workspace', 'thread', 'messages', 'edges', 0, 'node', 'id')),
  }
})

const query = `query ($id: ID!) { node(id: $id) {
  id __typename ... on Workspace { workspaceId } ... on Thread { threadId } ... on Message { messageId } } }`

const node = async (from: Gateway, id: string) => at(await from.run(query, { id }), 'node')

const encoded = (...key: readonly unknown[]) => Buffer.from(JSON.stringify(key)).toString('base64url')

describe('a global id', () => {
  it('leads back to its node', async () => {
    const { workspace, thread, message } = ids
    expect(await node(here, workspace)).toEqual({ id: workspace, __typename: 'Workspace', workspaceId: 'w1' })
    expect(await node(here, thread)).toEqual({ id: thread, __typename: 'Thread', threadId: 't1' })
    expect(await node(here, message)).toEqual({ id: message, __typename: 'Message', messageId: 'm1' })
  })

  it('differs by type, workspace and tenant', async () => {
    const inputs = [here, gateway({ storage, tenantId: 'umbrella' })]
    const all = new Set<unknown>()
    for (const from of inputs) {
      for (const workspaceId of ['w1', 'x']) {
        await createThread(from, 'x', workspaceId)
        const data = await from.run(
          'query ($w: ID!) { workspace(workspaceId: $w) { id thread(threadId: "x") { id } } }',
          { w: workspaceId },
        )
        all.add(at(data, 'workspace', 'id')).add(at(data, 'workspace', 'thread', 'id'))
      }
    }
    expect(all.size).toBe(8)
  })

  it('gives null to another tenant, and where authorize refuses', async () => {
    for (const id of Object.values(ids)) {
      expect(await node(gateway({ storage, tenantId: 'umbrella' }), id)).toBeNull()
      expect(await node(gateway({ storage, authorize: () => false }), id)).toBeNull()
    }
  })

  it('gives null when there is nothing of that id', async () => {
    for (const key of [
      ['Thread', 'acme', 'w1', 't9'],
      ['Run', 'acme', 'w1', 'r9'],
      ['Artifact', 'acme', 'w1', 'a9'],
      ['Proposal', 'acme', 'w1', 'p9'],
      ['Message', 'acme', 'w1', 99],
      ['Message', 'acme', 'w1', 1],
    ]) {
      expect(await node(here, encoded(...key))).toBeNull()
    }
  })

  it('that is none is an error that names the argument', async () => {
    const broken = [
      '',
      'x',
      't1',
      '%%%',
      `${ids.thread}=`,
      ids.thread.slice(0, -2),
      encoded('Thread', 'acme', 'w1'),
      encoded('Thread', 'acme', 'w1', 1),
      encoded('Thread', 'acme', 'w1', 'a\nb'),
      encoded('Thread', 'acme', '', 't1'),
      encoded('Message', 'acme', 'w1', 'm1'),
      encoded('Message', 'acme', 'w1', 1.5),
      encoded('Message', 'acme', 'w1', -1),
      encoded('Query', 'acme', 'w1', 'x'),
      encoded('__proto__', 'acme', 'w1', 'x'),
      Buffer.from('{"a":1}').toString('base64url'),
      Buffer.from('["Thread", "acme", "w1", "t1"]').toString('base64url'),
    ]
    for (const id of broken) {
      const { data, errors } = await here.ask(query, { id })
      expect(data).toEqual({ node: null })
      expect(errors).toMatchObject([
        {
          message: 'id is no global id',
          path: ['node'],
          extensions: { code: 'BAD_USER_INPUT', argument: 'id' },
        },
      ])
    }
  })

  it('has one text', () => {
    expect(parseGlobalId(ids.thread)).toEqual(['Thread', 'acme', 'w1', 't1'])
    expect(parseGlobalId(` ${ids.thread}`)).toBeNull()
  })
})

describe('nodes', () => {
  const nodes = 'query ($ids: [ID!]!) { nodes(ids: $ids) { id } }'

  it('come in the order asked for, with an error for each that is no global id', async () => {
    const { data, errors } = await here.ask(nodes, { ids: [ids.message, 'nonsense', ids.thread, ids.thread] })
    expect(data).toEqual({
      nodes: [{ id: ids.message }, null, { id: ids.thread }, { id: ids.thread }],
    })
    expect(errors).toMatchObject([
      { path: ['nodes', 1], extensions: { code: 'BAD_USER_INPUT', argument: 'ids.1' } },
    ])
  })

  it('are at most 200', async () => {
    const { errors } = await here.ask(nodes, { ids: Array.from({ length: 201 }, () => ids.thread) })
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'ids' } }])
  })
})
