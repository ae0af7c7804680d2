/** Command ids: a command that comes back gets its first result, and nothing is carried out (domain §7). */
import { beforeEach, describe, expect, test } from 'vitest'
import type { Actor } from '../../src/core/actors.js'
import { InvalidState, NotFound, ValidationFailed } from '../../src/core/rejections.js'
import { MemoryData, MemoryStorage } from '../../src/storage/memory.js'
import type { Workspace } from '../../src/workspace/workspace.js'
import { Workspaces } from '../../src/workspace/workspaces.js'

const ada: Actor = { kind: 'user', id: 'ada' }
const bob: Actor = { kind: 'user', id: 'bob' }
const commandId = 'c1'

let data: MemoryData
let workspace: Workspace

const open = (resultRetention?: number) =>
  new Workspaces(new MemoryStorage(data), { resultRetention }).open('acme', 'w1', { actor: ada })

const post = (messageId: string | undefined, content = 'hello', by = workspace, id = commandId) =>
  by.commit({ type: 'post_message', threadId: 't1', messageId, content }, { commandId: id })

beforeEach(async () => {
  data = new MemoryData()
  workspace = open()
  await workspace.commit({ type: 'create_thread', threadId: 't1' })
})

describe('a command that comes back with its id', () => {
  test('gets the first result again, in whichever process, and appends nothing', async () => {
    const first = await post('m1')
    expect(await post('m1')).toEqual({ ...first, isRepeat: true })
    expect(await post('m1', 'hello', open())).toEqual({ ...first, isRepeat: true })
    expect(await workspace.head()).toBe(2)
  })

  test('gets the id that was generated for it the first time', async () => {
    const first = await post(undefined)
    expect(await post(undefined)).toEqual({ ...first, isRepeat: true })
    expect(await workspace.head()).toBe(2)
  })

  test('is the same whatever the order of its keys', async () => {
    const create = (data: { title: string; text: string }) =>
      workspace.commit({ type: 'create_artifact', kind: 'note', data }, { commandId })
    const first = await create({ title: 'Plans', text: '' })
    expect(await create({ text: '', title: 'Plans' })).toEqual({ ...first, isRepeat: true })
  })

  test('twenty times at once is carried out once', async () => {
    const other = open()
    const results = await Promise.all(
      Array.from({ length: 20 }, (_, n) => post(undefined, 'hello', n % 2 === 0 ? workspace : other)),
    )
    expect(new Set(results.map(({ envelopes }) => envelopes[0]?.id)).size).toBe(1)
    expect(await workspace.head()).toBe(2)
  })

  test('gets its first result also when it appended nothing', async () => {
    const setMode = () =>
      workspace.commit({ type: 'set_thread_mode', threadId: 't1', mode: 'edit' }, { commandId })
    const first = await setMode()
    expect(first.envelopes).toEqual([])
    await workspace.commit({ type: 'set_thread_mode', threadId: 't1', mode: 'suggest' })
    expect(await setMode()).toEqual({ ...first, isRepeat: true })
    expect(await workspace.head()).toBe(2)
  })

  test('and is another command is refused, naming commandId', async () => {
    await post('m1')
    const different = post('m1', 'something else')
    await expect(different).rejects.toThrow(ValidationFailed)
    await expect(different).rejects.toMatchObject({ issues: [{ path: ['commandId'] }] })
    expect(await workspace.head()).toBe(2)
  })
})

test('a command that was refused is decided afresh, and its command id is free', async () => {
  const lost = { type: 'post_message', threadId: 't2', messageId: 'm1', content: 'hello' } as const
  await expect(workspace.commit(lost, { commandId })).rejects.toThrow(NotFound)
  await workspace.commit({ type: 'create_thread', threadId: 't2' })
  const { envelopes } = await workspace.commit(lost, { commandId })
  expect(envelopes).toHaveLength(1)
})

test('a used message id is refused under a new command id', async () => {
  await post('m1')
  await expect(post('m1', 'hello', workspace, 'c2')).rejects.toThrow(InvalidState)
})

test("one participant's command ids are not another's, whatever they are called", async () => {
  await post('m1')
  await expect(post('m1', 'hello', workspace.asActor(bob))).rejects.toThrow(InvalidState)
  const renamed = workspace.asActor({ ...ada, name: 'Countess' })
  expect((await post('m1', 'hello', renamed)).envelopes).toHaveLength(1)
  expect(await workspace.head()).toBe(2)
})

test('a fact that comes back with its id is recorded once', async () => {
  const note = () => workspace.record({ type: 'app_event', name: 'opened' }, { commandId })
  const first = await note()
  expect(await note()).toEqual({ ...first, isRepeat: true })
  expect(await workspace.head()).toBe(2)
})

test.each(['', 'x'.repeat(256), '\ud800', 'a\u0000'])('a command id is an id: %j is refused', async (id) => {
  const refused = post('m1', 'hello', workspace, id)
  await expect(refused).rejects.toMatchObject({
    code: 'validation_failed',
    issues: [{ path: ['commandId'] }],
  })
  expect(await workspace.head()).toBe(1)
})

test('results are forgotten once they are older than they are kept', async () => {
  const forgetful = open(-1)
  await post('m1', 'hello', forgetful)
  for (let n = 1; n < 200; n++) await post(`n${n}`, 'hello', forgetful, `d${n}`)
  await expect.poll(() => data.workspace(workspace.scope).commands.size, { timeout: 20_000 }).toBe(0)
  await expect(post('m1', 'hello', forgetful)).rejects.toThrow(InvalidState)
})
