import { beforeEach, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/core/actors.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import { at, createThread, type Gateway, gateway, mutate } from './gateway.js'

const agent: Actor = { kind: 'agent', threadId: 't1', runId: 'r1', name: 'assistant' }
let here: Gateway
let asAgent: Gateway

beforeEach(async () => {
  const storage = new MemoryStorage()
  here = gateway({ storage })
  asAgent = gateway({ storage, actor: agent })
  await createThread(here, 't1')
  await mutate(here, 'createArtifact', { artifactId: 'k1', kind: 'checklist', data: { title: 'Launch' } })
})

const proposal = `proposal {
  id proposalId artifactId status rationale threadId proposedBy { kind } artifact { artifactId version data }
  change {
    __typename
    ... on CreateArtifactChange { artifactId kind data }
    ... on EditArtifactChange { artifactId baseVersion summary patch { __typename ... on JsonPatch { ops } } }
    ... on ArchiveArtifactChange { artifactId baseVersion }
  }
}`

const rename = (title: string) => ({ jsonPatch: [{ op: 'replace', path: '/title', value: title }] })

const propose = (input: Record<string, unknown>, from = asAgent) =>
  mutate(from, 'proposeChange', { proposalId: 'p1', ...input }, `... on ChangeProposed { seq ${proposal} }`)

const respond = (input: Record<string, unknown>, from = here) =>
  mutate(
    from,
    'respondToProposal',
    { proposalId: 'p1', decision: 'ACCEPT', ...input },
    `... on RespondToProposalSuccess { seq ${proposal} artifact { artifactId version data archived } }`,
  )

const edit = (title: string) => ({
  change: { edit: { artifactId: 'k1', baseVersion: 1, patch: rename(title) } },
})

describe('a proposal', () => {
  it('holds any change, as it would be made', async () => {
    expect(await propose({ ...edit('Start'), rationale: 'shorter' })).toMatchObject({
      __typename: 'ChangeProposed',
      seq: 3,
      proposal: {
        proposalId: 'p1',
        artifactId: 'k1',
        status: 'PENDING',
        rationale: 'shorter',
        threadId: 't1',
        proposedBy: { kind: 'AGENT' },
        artifact: { artifactId: 'k1', version: 1 },
        change: {
          __typename: 'EditArtifactChange',
          artifactId: 'k1',
          baseVersion: 1,
          summary: 'replace /title',
          patch: { __typename: 'JsonPatch', ops: [{ op: 'replace', path: '/title', value: 'Start' }] },
        },
      },
    })
    const create = { kind: 'checklist', data: { title: 'New' } }
    expect(
      await propose({ proposalId: 'p2', change: { create: { artifactId: 'k2', ...create } } }),
    ).toMatchObject({
      proposal: {
        artifact: null,
        change: { __typename: 'CreateArtifactChange', artifactId: 'k2', data: { title: 'New', items: {} } },
      },
    })
    expect(
      await propose({ proposalId: 'p3', change: { archive: { artifactId: 'k1', baseVersion: 1 } } }),
    ).toMatchObject({
      proposal: { change: { __typename: 'ArchiveArtifactChange', artifactId: 'k1', baseVersion: 1 } },
    })
    const made = await propose({ proposalId: null, change: { create } })
    expect(at(made, 'proposal', 'proposalId')).toMatch(/^prp_/)
    expect(at(made, 'proposal', 'artifactId')).toMatch(/^art_/)
  })

  it('is accepted, with changes on top', async () => {
    await propose(edit('Start'))
    const changes = { jsonPatch: [{ op: 'add', path: '/items/a', value: { title: 'Build' } }] }
    expect(await respond({ changes, reason: 'good' })).toMatchObject({
      __typename: 'RespondToProposalSuccess',
      seq: 5,
      proposal: { status: 'ACCEPTED' },
      artifact: { version: 2, data: { title: 'Start', items: { a: { title: 'Build', done: false } } } },
    })
  })

  it('is rejected', async () => {
    await propose({ change: { create: { artifactId: 'k2', kind: 'checklist', data: { title: 'New' } } } })
    expect(await respond({ decision: 'REJECT', changes: null, reason: null })).toMatchObject({
      seq: 4,
      proposal: { status: 'REJECTED' },
      artifact: null,
    })
  })

  it('is refused for everything that can be wrong with it', async () => {
    await propose(edit('Start'))
    const cases: [Promise<unknown>, Record<string, unknown>][] = [
      [propose(edit('Start')), { __typename: 'InvalidState', reason: 'ALREADY_EXISTS', entity: 'proposal' }],
      [
        propose({ proposalId: 'p2', change: { archive: { artifactId: 'k1', baseVersion: 9 } } }),
        { __typename: 'VersionConflict', head: 1 },
      ],
      [propose({ proposalId: 'p2', ...edit('Launch') }), { __typename: 'PatchFailed' }],
      [
        propose({ proposalId: '', ...edit('x') }),
        { __typename: 'ValidationFailed', issues: [{ path: ['proposalId'] }] },
      ],
      [respond({ proposalId: 'p9' }), { __typename: 'NotFound', missing: 'proposal' }],
      [respond({}, asAgent), { __typename: 'Forbidden' }],
    ]
    for (const [answer, expected] of cases) expect(await answer).toMatchObject(expected)
    await respond({})
    expect(await respond({})).toMatchObject({ __typename: 'InvalidState', reason: 'ALREADY_RESOLVED' })
  })

  it('is accepted once out of 30 acceptances at once', async () => {
    await propose(edit('Start'))
    const answers = await Promise.all(Array.from({ length: 30 }, () => respond({})))
    const names = answers.map((answer) => at(answer, '__typename'))
    expect(names.filter((name) => name === 'RespondToProposalSuccess')).toHaveLength(1)
    expect(names.filter((name) => name === 'InvalidState')).toHaveLength(29)
  })

  it('stays pending when its artifact has moved on so that it no longer applies', async () => {
    await propose({ change: { edit: { artifactId: 'k1', baseVersion: 1, patch: rename('Start') } } })
    await mutate(here, 'archiveArtifact', { artifactId: 'k1', baseVersion: 1 })
    expect(await respond({})).toMatchObject({ __typename: 'InvalidState', reason: 'ARCHIVED' })
    const data = await here.run('{ workspace(workspaceId: "w1") { proposal(proposalId: "p1") { status } } }')
    expect(at(data, 'workspace', 'proposal')).toEqual({ status: 'PENDING' })
  })

  it('of a creation has no artifact unless it is accepted, whatever else has got that id', async () => {
    const creation = { change: { create: { artifactId: 'same', kind: 'note', data: { title: 'x' } } } }
    await propose(creation)
    await propose({ ...creation, proposalId: 'p2' })
    expect(await respond({})).toMatchObject({
      artifact: { artifactId: 'same' },
      proposal: { artifact: { version: 1 } },
    })
    expect(await respond({ proposalId: 'p2' })).toMatchObject({ reason: 'ALREADY_EXISTS' })
    expect(await respond({ proposalId: 'p2', decision: 'REJECT' })).toMatchObject({
      artifact: null,
      proposal: { status: 'REJECTED', artifact: null },
    })
  })

  it.each([
    [{ change: { create: { artifactId: '', kind: 'note', data: {} } } }, ['change', 'create', 'artifactId']],
    [
      { change: { edit: { artifactId: 'k1', baseVersion: 1, patch: { jsonPatch: [{ op: 'nope' }] } } } },
      ['change', 'edit', 'patch', 'jsonPatch', '0', 'op'],
    ],
    [
      {
        change: {
          edit: {
            artifactId: 'k1',
            baseVersion: 1,
            patch: { textEdits: { edits: [{ old: '\ud800', new: '' }] } },
          },
        },
      },
      ['change', 'edit', 'patch', 'textEdits', 'edits', '0', 'old'],
    ],
  ])('that is malformed is refused with the way to the field: %j', async (input, path) => {
    expect(at(await propose(input), 'issues', 0, 'path')).toEqual(path)
  })

  it('is listed while it is pending; others when asked for', async () => {
    for (const proposalId of ['p1', 'p2', 'p3']) await propose({ proposalId, ...edit(proposalId) })
    await respond({ proposalId: 'p1' })
    await respond({ proposalId: 'p2', decision: 'REJECT' })
    const list = async (args: string) => {
      const data = await here.run(
        `{ workspace(workspaceId: "w1") { proposals${args} { edges { node { proposalId } } } } }`,
      )
      return JSON.stringify(at(data, 'workspace', 'proposals', 'edges')).match(/p\d/g)
    }
    expect(await list('')).toEqual(['p3'])
    expect(await list('(status: ACCEPTED)')).toEqual(['p1'])
    expect(await list('(status: REJECTED)')).toEqual(['p2'])
    expect(await list('(status: null)')).toEqual(['p1', 'p2', 'p3'])
  })
})

describe('change notes', () => {
  it('tell the viewer what others did since a position', async () => {
    const notes = async (from: Gateway, args: string) =>
      at(
        await from.run(
          `{ workspace(workspaceId: "w1") { changeNotes${args} { artifactId text actors action proposalId fromVersion toVersion } } }`,
        ),
        'workspace',
        'changeNotes',
      )
    await propose(edit('Start'))
    expect(await notes(here, '(afterSeq: 0)')).toMatchObject([
      { artifactId: 'k1', actors: ['assistant'], action: 'PROPOSED', proposalId: 'p1', fromVersion: null },
    ])
    await respond({})
    expect(await notes(asAgent, '(afterSeq: 3)')).toMatchObject([
      { artifactId: 'k1', actors: ['Ada'], action: 'ACCEPTED', proposalId: 'p1', toVersion: 2 },
    ])
    expect(await notes(asAgent, '(afterSeq: 0, focus: null)')).toMatchObject([
      { action: 'CREATED' },
      { action: 'ACCEPTED' },
    ])
    expect(await notes(asAgent, '(afterSeq: 0, focus: [])')).toMatchObject([{ action: 'ACCEPTED' }])
    expect(await notes(asAgent, '(afterSeq: 5)')).toEqual([])
    const { errors } = await here.ask(
      '{ workspace(workspaceId: "w1") { changeNotes(afterSeq: 0, focus: [""]) { text } } }',
    )
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'focus.0' } }])
  })
})
