/** The host loop: what a workspace handle does with core and a storage. */
import { describe, expect, test } from 'vitest'
import type { Actor } from '../../src/core/actors.js'
import { Forbidden, InvalidState, NotFound, ValidationFailed } from '../../src/core/rejections.js'
import { NotLoaded } from '../../src/core/state.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import type { Storage, Window } from '../../src/storage/port.js'
import { Workspaces } from '../../src/workspace/workspaces.js'

const ada: Actor = { kind: 'user', id: 'ada' }
const all: Window = { limit: 200, from: 'start' }

const open = (storage: Storage = new MemoryStorage(), actor: Actor = ada) =>
  new Workspaces(storage).open('acme', 'w1', { actor })

const withThread = async (storage?: Storage) => {
  const workspace = open(storage)
  await workspace.commit({ type: 'create_thread', threadId: 't1' })
  return workspace
}

describe('posting', () => {
  test('a message id is used once, in any thread of the workspace', async () => {
    const workspace = await withThread()
    await workspace.commit({ type: 'create_thread', threadId: 't2' })
    await workspace.commit({ type: 'post_message', threadId: 't1', messageId: 'm1', content: 'first' })
    for (const threadId of ['t1', 't2']) {
      const repeat = workspace.commit({ type: 'post_message', threadId, messageId: 'm1', content: 'again' })
      await expect(repeat).rejects.toThrow(InvalidState)
      await expect(repeat).rejects.toMatchObject({
        message: 'message m1 already exists',
        reason: 'already_exists',
        entity: 'message',
        id: 'm1',
      })
    }
    expect(await workspace.head()).toBe(3)
    expect((await workspace.messages('t1', all)).entries.map(({ event }) => event.content)).toEqual(['first'])
    expect((await workspace.messages('t2', all)).entries).toEqual([])
  })

  test('an attempt that was refused does not use up its id', async () => {
    const workspace = await withThread()
    const post = (threadId: string, content: string) =>
      workspace.commit({ type: 'post_message', threadId, messageId: 'm1', content })
    await expect(post('nowhere', 'hello')).rejects.toThrow(NotFound)
    await expect(post('t1', '')).rejects.toThrow(ValidationFailed)
    await expect(post('t1', '\u0000')).rejects.toThrow(ValidationFailed)
    await expect(post('t1', 'x'.repeat(65_537))).rejects.toThrow(ValidationFailed)
    expect((await workspace.load({ messages: ['m1'] })).messages.get('m1')).toBe(false)
    expect((await post('t1', 'x'.repeat(65_536))).envelopes).toHaveLength(1)
  })

  test('an envelope says who, where, when, and in which trace', async () => {
    const workspace = await withThread()
    const before = Date.now()
    const traceparent = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01'
    const agent = workspace.asActor({ kind: 'agent', threadId: 't1', runId: 'r1', name: 'assistant' })
    const { envelopes } = await agent.commit(
      { type: 'post_message', threadId: 't1', messageId: 'm1', content: 'hello', kind: 'notice' },
      { traceparent },
    )
    const { entries } = await workspace.events({}, { after: 1, limit: 1, from: 'start' })
    const [stored] = entries
    expect(stored).toEqual(envelopes[0])
    expect(stored).toMatchObject({
      seq: 2,
      workspaceId: 'w1',
      threadId: 't1',
      runId: 'r1',
      actor: agent.actor,
      traceparent,
      event: { type: 'message_posted', kind: 'notice', runId: 'r1' },
    })
    expect(stored?.id).toMatch(/^evt_[0-9a-v]{27}$/)
    expect(stored?.ts).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
    expect(Date.parse(stored?.ts ?? '')).toBeGreaterThanOrEqual(before)
  })

  test('an evaluator may not post, whatever else is wrong', async () => {
    const evaluator = open(undefined, { kind: 'evaluator', name: 'judge', version: '1' })
    const post = evaluator.commit({ type: 'post_message', threadId: '', messageId: '\u0000', content: '' })
    await expect(post).rejects.toThrow(Forbidden)
  })
})

describe('a storage that is at fault', () => {
  /** Loads everything but message ids, as a storage from before the rule. */
  class Forgetful extends MemoryStorage {
    override transaction: MemoryStorage['transaction'] = (scope, work) =>
      super.transaction(scope, (transaction) =>
        work({
          ...transaction,
          load: async (needs) => ({ ...(await transaction.load(needs)), messages: new Map() }),
        }),
      )
  }

  test('one that does not load message ids fails with NotLoaded on the first post', async () => {
    const workspace = await withThread(new Forgetful())
    const post = workspace.commit({ type: 'post_message', threadId: 't1', messageId: 'm1', content: 'hi' })
    await expect(post).rejects.toThrow(NotLoaded)
    await expect(post).rejects.toThrow('messages "m1" was not loaded')
    expect(await workspace.head()).toBe(1)
  })
})

test.each(['', 'x'.repeat(256), 'a\nb', '\ud800'])('no workspace has the id %j', (workspaceId) => {
  const workspaces = new Workspaces(new MemoryStorage())
  expect(() => workspaces.open('acme', workspaceId, { actor: ada })).toThrow(ValidationFailed)
  expect(() => workspaces.open(workspaceId, 'w1', { actor: ada })).toThrow(/^tenantId must/)
})
