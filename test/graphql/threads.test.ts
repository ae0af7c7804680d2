import { beforeEach, describe, expect, it } from 'vitest'
import type { FactInput } from '../../src/core/facts.js'
import { at, createThread, type Gateway, gateway, mutate, postMessage } from './gateway.js'

let here: Gateway
beforeEach(async () => {
  here = gateway()
  await createThread(here, 't1')
})

const record = (...facts: readonly FactInput[]) =>
  facts.reduce<Promise<unknown>>(
    (before, fact) =>
      before.then(() =>
        here.workspaces.open('acme', 'w1', { actor: { kind: 'system', name: 'system' } }).record(fact),
      ),
    Promise.resolve(),
  )

describe('the focus of a thread', () => {
  const focus = (artifactIds: readonly string[], threadId = 't1') =>
    mutate(
      here,
      'setThreadFocus',
      { threadId, artifactIds },
      '... on SetThreadFocusSuccess { seq thread { focus { artifactId } } }',
    )
  beforeEach(async () => {
    for (const artifactId of ['a', 'b']) {
      await mutate(here, 'createArtifact', { artifactId, kind: 'note', data: { title: artifactId } })
    }
  })

  it('is set, in order, without duplicates; the same again appends nothing', async () => {
    const expected = { thread: { focus: [{ artifactId: 'b' }, { artifactId: 'a' }] } }
    expect(await focus(['b', 'a', 'b'])).toMatchObject({ seq: 4, ...expected })
    expect(await focus(['b', 'a'])).toMatchObject({ seq: null, ...expected })
    expect(await focus([])).toMatchObject({ seq: 5, thread: { focus: [] } })
  })

  it('is NotFound on what does not exist', async () => {
    expect(await focus(['a', 'x'])).toMatchObject({
      __typename: 'NotFound',
      missing: 'artifact',
      missingId: 'x',
    })
    expect(await focus([], 't9')).toMatchObject({ __typename: 'NotFound', missing: 'thread' })
  })

  it('is ValidationFailed on an id that is none, naming it', async () => {
    expect(await focus(['a', ''])).toMatchObject({
      __typename: 'ValidationFailed',
      issues: [{ path: ['artifactIds', '1'] }],
    })
  })
})

describe('the mode of a thread', () => {
  it('is set; the same again appends nothing', async () => {
    const set = (mode: string) =>
      mutate(
        here,
        'setThreadMode',
        { threadId: 't1', mode },
        '... on SetThreadModeSuccess { seq thread { mode } }',
      )
    expect(await set('SUGGEST')).toMatchObject({ seq: 2, thread: { mode: 'SUGGEST' } })
    expect(await set('SUGGEST')).toMatchObject({ seq: null, thread: { mode: 'SUGGEST' } })
    expect(await set('EDIT')).toMatchObject({ seq: 3, thread: { mode: 'EDIT' } })
  })
})

describe('the runs of a thread', () => {
  const answer = (input: Record<string, unknown>) =>
    mutate(
      here,
      'answerDeferred',
      { runId: 'r1', toolCallId: 'q1', ...input },
      `... on AnswerDeferredSuccess { seq resumed run {
        runId threadId status traceIds answers { toolCallId answer approved }
        pending { toolCallId toolName kind args answered } } }`,
    )
  const pause: FactInput = {
    type: 'run_paused',
    runId: 'r1',
    requests: [
      { toolCallId: 'q1', toolName: 'ask', kind: 'question', args: { q: '?' } },
      { toolCallId: 'a1', toolName: 'delete', kind: 'approval', args: null },
    ],
  }

  it('wait for answers, and know which they have', async () => {
    await record({ type: 'run_started', runId: 'r1', threadId: 't1', trigger: 'api' }, pause)
    expect(await answer({ answer: { text: 'yes' }, approved: null })).toEqual({
      __typename: 'AnswerDeferredSuccess',
      seq: 4,
      resumed: false,
      run: {
        runId: 'r1',
        threadId: 't1',
        status: 'PAUSED',
        traceIds: [],
        answers: [{ toolCallId: 'q1', answer: { text: 'yes' }, approved: null }],
        pending: [
          { toolCallId: 'q1', toolName: 'ask', kind: 'QUESTION', args: { q: '?' }, answered: true },
          { toolCallId: 'a1', toolName: 'delete', kind: 'APPROVAL', args: null, answered: false },
        ],
      },
    })
    expect(await answer({ answer: 'again' })).toMatchObject({
      __typename: 'InvalidState',
      reason: 'ALREADY_ANSWERED',
    })
    expect(await answer({ toolCallId: 'a1', answer: 'x' })).toMatchObject({ reason: 'WRONG_ANSWER' })
    expect(await answer({ toolCallId: 'x', answer: 'x' })).toMatchObject({
      __typename: 'NotFound',
      missing: 'deferred request',
    })
    expect(await answer({ toolCallId: 'a1', approved: true, answer: null })).toMatchObject({ seq: 5 })
  })

  it('take JSON null for an answer', async () => {
    await record({ type: 'run_started', runId: 'r1', threadId: 't1', trigger: 'api' }, pause)
    expect(await answer({ answer: null })).toMatchObject({
      run: { answers: [{ toolCallId: 'q1', answer: null, approved: null }] },
    })
  })

  it('are NotFound, or not paused', async () => {
    expect(await answer({ answer: 'x' })).toMatchObject({ __typename: 'NotFound', missing: 'run' })
    await record({ type: 'run_started', runId: 'r1', threadId: 't1', trigger: 'api' })
    expect(await answer({ answer: 'x' })).toMatchObject({ __typename: 'InvalidState', reason: 'NOT_PAUSED' })
  })

  it('are listed by thread and status, and one is active', async () => {
    await createThread(here, 't2')
    await record(
      { type: 'run_started', runId: 'r1', threadId: 't1', trigger: 'api' },
      { type: 'run_ended', runId: 'r1', status: 'completed' },
      { type: 'run_started', runId: 'r2', threadId: 't1', trigger: 'api' },
      { type: 'run_started', runId: 'r3', threadId: 't2', trigger: 'api' },
    )
    const data = await here.run(`
      fragment ids on RunConnection { edges { node { runId } } }
      { workspace(workspaceId: "w1") {
        all: runs { ...ids } t1: runs(threadId: "t1") { ...ids } running: runs(status: RUNNING) { ...ids }
        none: runs(threadId: "t9", status: null) { ...ids } run(runId: "r1") { status }
        thread(threadId: "t1") {
          runs { ...ids } completed: runs(status: COMPLETED) { ...ids } activeRun { runId }
        } } }`)
    const ids = (...path: string[]) => JSON.stringify(at(data, 'workspace', ...path)).match(/r\d/g)
    expect(ids('all')).toEqual(['r1', 'r2', 'r3'])
    expect(ids('t1')).toEqual(['r1', 'r2'])
    expect(ids('running')).toEqual(['r2', 'r3'])
    expect(ids('none')).toBeNull()
    expect(ids('thread', 'runs')).toEqual(['r1', 'r2'])
    expect(ids('thread', 'completed')).toEqual(['r1'])
    expect(at(data, 'workspace', 'thread', 'activeRun')).toEqual({ runId: 'r2' })
    expect(at(data, 'workspace', 'run')).toEqual({ status: 'COMPLETED' })
  })

  it('are named by the messages they post', async () => {
    await record({ type: 'run_started', runId: 'r1', threadId: 't1', trigger: 'api' })
    const agent = { kind: 'agent', threadId: 't1', runId: 'r1', name: 'assistant' } as const
    await here.workspaces
      .open('acme', 'w1', { actor: agent })
      .commit({ type: 'post_message', threadId: 't1', messageId: 'm1', content: 'Hi' })
    expect(await postMessage(here, { messageId: 'm2' })).toMatchObject({ posted: { run: null } })
    const data =
      await here.run(`{ workspace(workspaceId: "w1") { thread(threadId: "t1") { messages { edges { node {
      author { kind } run { runId status } } } } } } }`)
    expect(at(data, 'workspace', 'thread', 'messages', 'edges')).toEqual([
      { node: { author: { kind: 'AGENT' }, run: { runId: 'r1', status: 'RUNNING' } } },
      { node: { author: { kind: 'USER' }, run: null } },
    ])
  })
})

describe('feedback and events of the application', () => {
  const give = (input: Record<string, unknown>) =>
    mutate(
      here,
      'giveFeedback',
      { feedbackType: 'helpfulness', target: { thread: { threadId: 't1' } }, value: { rating: 5 }, ...input },
      '... on GiveFeedbackSuccess { seq }',
    )
  const app = (input: Record<string, unknown>) =>
    mutate(here, 'recordAppEvent', { name: 'opened', ...input }, '... on RecordAppEventSuccess { seq }')

  it('are recorded, and recorded again', async () => {
    expect(await give({})).toEqual({ __typename: 'GiveFeedbackSuccess', seq: 2 })
    expect(await give({})).toEqual({ __typename: 'GiveFeedbackSuccess', seq: 3 })
    expect(await app({})).toEqual({ __typename: 'RecordAppEventSuccess', seq: 4 })
    expect(await app({ data: { a: null }, threadId: 't1', runId: null })).toMatchObject({ seq: 5 })
  })

  it('are refused when they are about nothing, or of no type', async () => {
    expect(await give({ feedbackType: 'stars' })).toMatchObject({
      __typename: 'NotFound',
      missing: 'feedback type',
    })
    expect(await give({ value: { rating: 6 } })).toMatchObject({
      __typename: 'ValidationFailed',
      issues: [{ path: ['value', 'rating'] }],
    })
    expect(await give({ target: { artifact: { artifactId: 'a', version: 1 } } })).toMatchObject({
      __typename: 'ValidationFailed',
      issues: [{ path: ['target'] }],
    })
    expect(await give({ target: { turn: { runId: 'r9' } } })).toMatchObject({
      missing: 'run',
      missingId: 'r9',
    })
    expect(
      await give({ target: { message: { messageId: 'm9', threadId: 't1', runId: null } } }),
    ).toMatchObject({
      missing: 'message',
    })
    expect(await app({ threadId: 't9' })).toMatchObject({ __typename: 'NotFound', missing: 'thread' })
    expect(await app({ name: '' })).toMatchObject({
      __typename: 'ValidationFailed',
      issues: [{ path: ['name'] }],
    })
  })
})
