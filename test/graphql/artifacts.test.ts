import { beforeEach, describe, expect, it } from 'vitest'
import type { Actor } from '../../src/core/actors.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import { at, createThread, type Gateway, gateway, mutate } from './gateway.js'

const agent: Actor = { kind: 'agent', threadId: 't1', runId: 'r1', name: 'assistant' }
let storage: MemoryStorage
let here: Gateway
let asAgent: Gateway

beforeEach(async () => {
  storage = new MemoryStorage()
  here = gateway({ storage })
  asAgent = gateway({ storage, actor: agent })
  await createThread(here, 't1')
})

const applied = `
  ... on ArtifactApplied { version seq artifact { id artifactId kind version data archived updatedBy { displayName } } }
  ... on ChangeProposed { seq proposal { proposalId status } }`

const create = (from: Gateway, input: Record<string, unknown> = {}) =>
  mutate(
    from,
    'createArtifact',
    { artifactId: 'n1', kind: 'note', data: { title: 'A', text: 'one' }, ...input },
    applied,
  )
const edit = (from: Gateway, input: Record<string, unknown> = {}) =>
  mutate(
    from,
    'editArtifact',
    {
      artifactId: 'n1',
      baseVersion: 1,
      patch: { textEdits: { edits: [{ old: 'one', new: 'two' }] } },
      ...input,
    },
    applied,
  )
const archive = (from: Gateway, input: Record<string, unknown> = {}) =>
  mutate(from, 'archiveArtifact', { artifactId: 'n1', baseVersion: 1, ...input }, applied)

describe('an artifact', () => {
  it('is created, edited and archived, each time at its next version', async () => {
    expect(await create(here)).toMatchObject({
      __typename: 'ArtifactApplied',
      version: 1,
      seq: 2,
      artifact: {
        artifactId: 'n1',
        kind: 'note',
        version: 1,
        data: { title: 'A', text: 'one' },
        archived: false,
        updatedBy: { displayName: 'Ada' },
      },
    })
    expect(await edit(here)).toMatchObject({ version: 2, seq: 3, artifact: { data: { text: 'two' } } })
    const patch = { jsonPatch: [{ op: 'replace', path: '/title', value: 'B' }] }
    expect(await edit(here, { baseVersion: 2, patch })).toMatchObject({
      version: 3,
      artifact: { data: { title: 'B' } },
    })
    expect(await archive(here, { baseVersion: 3 })).toMatchObject({
      version: 4,
      artifact: { archived: true },
    })
  })

  it('keeps the order of its keys', async () => {
    const data = { text: 'x', title: 'y' }
    const created = await create(here, { data })
    expect(JSON.stringify(at(created, 'artifact', 'data'))).toBe(JSON.stringify(data))
  })

  it('has an id that is used once, and one made for it when none is given', async () => {
    await create(here)
    expect(await create(here)).toEqual({
      __typename: 'InvalidState',
      code: 'INVALID_STATE',
      reason: 'ALREADY_EXISTS',
      message: 'artifact n1 already exists',
      entity: 'artifact',
      entityId: 'n1',
    })
    const made = await create(here, { artifactId: null, proposalId: null, threadId: null })
    expect(at(made, 'artifact', 'artifactId')).toMatch(/^art_/)
  })

  it('is refused, in words of its own, for everything that can be wrong with a change', async () => {
    await create(here)
    await create(here, { artifactId: 'gone' })
    await archive(here, { artifactId: 'gone' })
    const textEdits = (old: string, text: string) => ({
      patch: { textEdits: { field: null, edits: [{ old, new: text }] } },
    })
    const cases: [Promise<unknown>, Record<string, unknown>][] = [
      [
        create(here, { artifactId: 'x', kind: 'poem' }),
        { __typename: 'NotFound', missing: 'artifact type', missingId: 'poem' },
      ],
      [
        create(here, { artifactId: 'x', data: { text: 'x', more: 1 } }),
        { __typename: 'ValidationFailed', issues: [{ path: ['data', 'title'] }] },
      ],
      [
        create(here, { artifactId: 'x', data: { title: 'a\u0000' } }),
        { __typename: 'ValidationFailed', issues: [{ path: ['data', 'title'] }] },
      ],
      [create(here, { artifactId: 'x', threadId: 't9' }), { __typename: 'NotFound', missing: 'thread' }],
      [edit(here, { artifactId: 'x' }), { __typename: 'NotFound', missing: 'artifact', missingId: 'x' }],
      [
        edit(here, { artifactId: 'gone' }),
        { __typename: 'InvalidState', reason: 'ARCHIVED', entityId: 'gone' },
      ],
      [edit(here, { baseVersion: 7 }), { __typename: 'VersionConflict', artifactId: 'n1', base: 7, head: 1 }],
      [
        edit(here, { baseVersion: 0 }),
        { __typename: 'ValidationFailed', issues: [{ path: ['baseVersion'] }] },
      ],
      [edit(here, textEdits('absent', 'x')), { __typename: 'PatchFailed', code: 'PATCH_FAILED' }],
      [edit(here, textEdits('one', 'one')), { __typename: 'PatchFailed' }],
      [
        archive(here, { artifactId: 'gone', baseVersion: 2 }),
        { __typename: 'InvalidState', reason: 'ARCHIVED' },
      ],
    ]
    for (const [answer, expected] of cases) expect(await answer).toMatchObject(expected)
  })

  it('changes once when 30 edits are based on one version', async () => {
    await create(here)
    const edits = Array.from({ length: 30 }, (_, i) =>
      edit(here, { patch: { textEdits: { edits: [{ old: 'one', new: `edit ${i}` }] } } }),
    )
    const names = (await Promise.all(edits)).map((answer) => at(answer, '__typename'))
    expect(names.filter((name) => name === 'ArtifactApplied')).toHaveLength(1)
    expect(names.filter((name) => name === 'VersionConflict')).toHaveLength(29)
  })

  it('refuses a patch that is of no form, or of two', async () => {
    const document = `mutation ($input: EditArtifactInput!) { editArtifact(input: $input) { __typename } }`
    for (const patch of [{}, { jsonPatch: [], textEdits: { edits: [] } }, { jsonPatch: null }]) {
      const { errors } = await here.ask(document, {
        input: { workspaceId: 'w1', artifactId: 'n1', baseVersion: 1, patch },
      })
      expect(errors[0]?.message).toMatch(/PatchInput|jsonPatch/)
    }
  })

  it('becomes a proposal when an agent may not change it directly', async () => {
    const checklist = { kind: 'checklist', data: { title: 'L' }, artifactId: 'k1', proposalId: 'p1' }
    expect(await create(asAgent, checklist)).toMatchObject({
      __typename: 'ChangeProposed',
      seq: 2,
      proposal: { proposalId: 'p1', status: 'PENDING' },
    })
    await create(here)
    await mutate(here, 'setThreadMode', { threadId: 't1', mode: 'SUGGEST' })
    expect(await edit(asAgent)).toMatchObject({
      __typename: 'ChangeProposed',
      proposal: { status: 'PENDING' },
    })
    expect(await archive(asAgent)).toMatchObject({ __typename: 'ChangeProposed' })
    expect(await edit(here)).toMatchObject({ __typename: 'ArtifactApplied' })
  })
})

describe('what was', () => {
  beforeEach(async () => {
    await create(here)
    await edit(here)
    await archive(here, { baseVersion: 2 })
  })

  const artifact = async (fields: string) =>
    at(
      await here.run(`{ workspace(workspaceId: "w1") { artifact(artifactId: "n1") { ${fields} } } }`),
      'workspace',
      'artifact',
    )

  it('stays readable, version by version', async () => {
    expect(
      await artifact(`revisions { edges { node {
        version kind data archived proposalId traceId actor { displayName }
        patch { __typename ... on TextEdits { field edits { old new } } ... on JsonPatch { ops } }
      } } }`),
    ).toMatchObject({
      revisions: {
        edges: [
          { node: { version: 1, kind: 'note', data: { text: 'one' }, archived: false, patch: null } },
          {
            node: {
              version: 2,
              data: { text: 'two' },
              patch: { __typename: 'TextEdits', field: 'text', edits: [{ old: 'one', new: 'two' }] },
            },
          },
          { node: { version: 3, data: { text: 'two' }, archived: true, patch: null } },
        ],
      },
    })
  })

  it('is found by its version', async () => {
    expect(await artifact('a: revision(version: 2) { data } b: revision(version: 9) { data }')).toEqual({
      a: { data: { title: 'A', text: 'two' } },
      b: null,
    })
    const { errors } = await here.ask(
      '{ workspace(workspaceId: "w1") { artifact(artifactId: "n1") { revision(version: 0) { data } } } }',
    )
    expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'version' } }])
  })

  it('is shown in lists only when asked for, once it is archived', async () => {
    await create(here, { artifactId: 'n2' })
    const list = async (args: string) => {
      const data = await here.run(
        `{ workspace(workspaceId: "w1") { artifacts${args} { edges { node { artifactId } } } } }`,
      )
      return JSON.stringify(at(data, 'workspace', 'artifacts', 'edges')).match(/n\d/g)
    }
    expect(await list('')).toEqual(['n2'])
    expect(await list('(includeArchived: null)')).toEqual(['n2'])
    expect(await list('(includeArchived: true)')).toEqual(['n1', 'n2'])
    expect(await list('(includeArchived: true, kind: "note", first: 1)')).toEqual(['n1'])
    expect(await list('(kind: "checklist")')).toBeNull()
  })
})

describe('the types', () => {
  it('are told with their JSON Schemas', async () => {
    const data = await here.run(
      '{ artifactTypes { kind writePolicy jsonSchema } feedbackTypes { name targets jsonSchema } }',
    )
    expect(data).toMatchObject({
      artifactTypes: [
        { kind: 'note', writePolicy: 'DIRECT', jsonSchema: { type: 'object', required: ['title'] } },
        { kind: 'checklist', writePolicy: 'PROPOSE' },
      ],
      feedbackTypes: [{ name: 'helpfulness', targets: ['TURN', 'THREAD', 'MESSAGE'] }],
    })
  })
})
