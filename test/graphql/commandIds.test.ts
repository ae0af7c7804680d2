import { beforeEach, describe, expect, it } from 'vitest'
import { at, createThread, type Gateway, gateway, mutate, postMessage } from './gateway.js'

let here: Gateway
beforeEach(async () => {
  here = gateway()
  await createThread(here, 't1')
})

describe('a command id', () => {
  it('gives the first result again, with the ids that were made for it', async () => {
    const input = { content: 'Hello', commandId: 'c1' }
    const first = await postMessage(here, input)
    expect(first).toMatchObject({ __typename: 'PostMessageSuccess', seq: 2 })
    expect(await postMessage(here, input)).toEqual(first)
    expect(await postMessage(here, { ...input, content: 'Other' })).toMatchObject({
      __typename: 'ValidationFailed',
      issues: [{ path: ['commandId'] }],
    })
  })

  it('is taken by every mutation', async () => {
    const twice = async (mutation: string, input: Record<string, unknown>, success: string) => {
      const once = await mutate(here, mutation, { ...input, commandId: mutation }, success)
      expect(at(once, '__typename')).toMatch(/Success|ArtifactApplied|ChangeProposed/)
      expect(await mutate(here, mutation, { ...input, commandId: mutation }, success)).toEqual(once)
    }
    await twice('createThread', {}, '... on CreateThreadSuccess { seq thread { threadId } }')
    await twice('setThreadMode', { threadId: 't1', mode: 'SUGGEST' }, '... on SetThreadModeSuccess { seq }')
    const note = { kind: 'note', data: { title: 'A' } }
    const applied = '... on ArtifactApplied { seq version artifact { artifactId } }'
    await twice('createArtifact', note, applied)
    await mutate(here, 'createArtifact', { artifactId: 'n1', ...note })
    await twice(
      'setThreadFocus',
      { threadId: 't1', artifactIds: ['n1'] },
      '... on SetThreadFocusSuccess { seq }',
    )
    const patch = { textEdits: { edits: [{ old: '', new: 'x' }] } }
    await twice('editArtifact', { artifactId: 'n1', baseVersion: 1, patch }, applied)
    await twice('archiveArtifact', { artifactId: 'n1', baseVersion: 2 }, applied)
    const proposed = '... on ChangeProposed { seq proposal { proposalId artifactId } }'
    await twice('proposeChange', { change: { create: note } }, proposed)
    const feedback = {
      feedbackType: 'helpfulness',
      target: { thread: { threadId: 't1' } },
      value: { rating: 1 },
    }
    await twice('giveFeedback', feedback, '... on GiveFeedbackSuccess { seq }')
    await twice('recordAppEvent', { name: 'opened' }, '... on RecordAppEventSuccess { seq }')
  })

  it('has to be an id', async () => {
    expect(await postMessage(here, { commandId: '' })).toMatchObject({
      __typename: 'ValidationFailed',
      issues: [{ path: ['commandId'] }],
    })
    expect(await postMessage(here, { commandId: null })).toMatchObject({ __typename: 'PostMessageSuccess' })
  })
})
