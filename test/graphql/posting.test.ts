import { beforeEach, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/core/actors.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import { at, createThread, type Gateway, gateway, postMessage, resultOf } from './gateway.js'

let here: Gateway
beforeEach(async () => {
  here = gateway()
  await createThread(here, 't1')
})

const exists = (messageId: string) => ({
  __typename: 'InvalidState',
  code: 'INVALID_STATE',
  reason: 'ALREADY_EXISTS',
  message: `message ${messageId} already exists`,
  entity: 'message',
  entityId: messageId,
})

const headSeq = async ({ run }: Gateway) =>
  at(await run('{ workspace(workspaceId: "w1") { headSeq } }'), 'workspace', 'headSeq')

describe('posting a message', () => {
  it('gives back the message with its place in the log', async () => {
    expect(await postMessage(here, { messageId: 'm1' })).toMatchObject({
      __typename: 'PostMessageSuccess',
      seq: 2,
      run: null,
      posted: { messageId: 'm1', threadId: 't1', content: 'Hello', kind: 'MESSAGE', seq: 2 },
    })
  })

  it('is refused the second time, whatever it says and in whichever thread', async () => {
    await createThread(here, 't2')
    await postMessage(here, { messageId: 'm1' })
    expect(await postMessage(here, { messageId: 'm1' })).toEqual(exists('m1'))
    expect(await postMessage(here, { messageId: 'm1', content: 'Other' })).toEqual(exists('m1'))
    expect(await postMessage(here, { messageId: 'm1', threadId: 't2' })).toEqual(exists('m1'))
    expect(await headSeq(here)).toBe(3)
  })

  it('generates an id when none is given, or null', async () => {
    const first = await postMessage(here, {})
    const second = await postMessage(here, { messageId: null })
    expect(at(first, 'posted', 'messageId')).toMatch(/^msg_/)
    expect(at(second, 'posted', 'messageId')).not.toEqual(at(first, 'posted', 'messageId'))
  })

  it('takes a kind, and takes null for none', async () => {
    expect(at(await postMessage(here, { kind: 'NOTICE' }), 'posted', 'kind')).toBe('NOTICE')
    expect(at(await postMessage(here, { kind: null }), 'posted', 'kind')).toBe('MESSAGE')
  })

  it('succeeds once out of 50 identical posts at once', async () => {
    const answers = await Promise.all(
      Array.from({ length: 50 }, () => postMessage(here, { messageId: 'm1' })),
    )
    const refused = answers.filter((answer) => at(answer, '__typename') !== 'PostMessageSuccess')
    expect(refused).toEqual(Array.from({ length: 49 }, () => exists('m1')))
    expect(await headSeq(here)).toBe(2)
  })

  it('succeeds and is refused when one document holds it twice', async () => {
    const post = `postMessage(input: { workspaceId: "w1", threadId: "t1", messageId: "m1", content: "Hi" })
      ${resultOf('postMessage', '')}`
    const data = await here.run(`mutation { first: ${post} second: ${post} }`)
    expect(data).toEqual({ first: { __typename: 'PostMessageSuccess' }, second: exists('m1') })
  })

  it('is NotFound in a thread that does not exist, and that uses up no id', async () => {
    expect(await postMessage(here, { messageId: 'm1', threadId: 't9' })).toEqual({
      __typename: 'NotFound',
      code: 'NOT_FOUND',
      message: 'thread t9 does not exist',
      missing: 'thread',
      missingId: 't9',
    })
    expect(await postMessage(here, { messageId: 'm1' })).toMatchObject({ __typename: 'PostMessageSuccess' })
  })

  it('uses up no id when it is refused for its content', async () => {
    for (const content of ['', 'a\u0000b', 'a\ud800', 'x'.repeat(65_537)]) {
      expect(await postMessage(here, { messageId: 'm1', content })).toMatchObject({
        __typename: 'ValidationFailed',
        issues: [{ path: ['content'] }],
      })
    }
    expect(await postMessage(here, { messageId: 'm1' })).toMatchObject({ __typename: 'PostMessageSuccess' })
  })

  it('may use an id that another workspace or another tenant uses', async () => {
    const storage = new MemoryStorage()
    for (const tenantId of ['acme', 'umbrella']) {
      const there = gateway({ storage, tenantId })
      for (const workspaceId of ['w1', 'w2']) {
        await createThread(there, 't1', workspaceId)
        expect(await postMessage(there, { workspaceId, messageId: 'm1' })).toMatchObject({
          __typename: 'PostMessageSuccess',
        })
        expect(await postMessage(there, { workspaceId, messageId: 'm1' })).toEqual(exists('m1'))
      }
    }
  })

  it('is Forbidden to an evaluator, and in a workspace the caller may not use', async () => {
    const evaluator: Actor = { kind: 'evaluator', name: 'judge', version: '1' }
    expect(await postMessage(gateway({ actor: evaluator }), {})).toMatchObject({ __typename: 'Forbidden' })
    expect(await postMessage(gateway({ authorize: () => false }), {})).toMatchObject({
      __typename: 'Forbidden',
      code: 'FORBIDDEN',
    })
  })
})

describe('creating a thread', () => {
  it('is refused when the id is used', async () => {
    expect(await createThread(here, 't1')).toEqual({
      __typename: 'InvalidState',
      code: 'INVALID_STATE',
      reason: 'ALREADY_EXISTS',
      message: 'thread t1 already exists',
      entity: 'thread',
      entityId: 't1',
    })
  })

  it('takes null for no id and no title', async () => {
    const data = await here.run(
      `mutation { createThread(input: { workspaceId: "w1", threadId: null, title: null }) {
        ... on CreateThreadSuccess { seq thread { threadId title mode } } } }`,
    )
    expect(at(data, 'createThread')).toMatchObject({ seq: 2, thread: { title: '', mode: 'EDIT' } })
    expect(at(data, 'createThread', 'thread', 'threadId')).toMatch(/^thr_/)
  })
})

describe('an id', () => {
  const hostile: Record<string, string> = {
    'that is empty': '',
    'of 3,000 characters': 'x'.repeat(3000),
    'with U+0000': 'a\u0000b',
    'with a newline': 'a\nb',
    'with U+007F': 'a\u007fb',
    'with a lone surrogate': 'a\ud800b',
    'of 256 bytes': '𝕏'.repeat(64),
  }
  for (const [what, id] of Object.entries(hostile)) {
    it(`${what} is refused wherever it stands, naming the field`, async () => {
      for (const field of ['messageId', 'threadId', 'workspaceId']) {
        expect(await postMessage(here, { messageId: 'm1', [field]: id })).toMatchObject({
          __typename: 'ValidationFailed',
          code: 'VALIDATION_FAILED',
          issues: [{ path: [field] }],
        })
      }
      expect(await headSeq(here)).toBe(1)
    })
  }

  it('is kept and compared exactly as it is', async () => {
    const ids = ['a', 'A', ' a', 'a ', '\u00e9', 'e\u0301', `${'𝕏'.repeat(63)}abc`, '"', '\\', '<b>', 'm:1/2']
    for (const messageId of ids) {
      expect(at(await postMessage(here, { messageId }), 'posted', 'messageId')).toBe(messageId)
    }
    for (const messageId of ids) expect(await postMessage(here, { messageId })).toEqual(exists(messageId))
  })

  it('may be written as a number', async () => {
    expect(at(await postMessage(here, { messageId: 7 }), 'posted', 'messageId')).toBe('7')
    expect(await postMessage(here, { messageId: '7' })).toEqual(exists('7'))
  })
})
