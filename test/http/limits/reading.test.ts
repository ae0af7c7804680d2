/** What is read of the storage for a request is bounded, whatever of it is shown. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { post } from '../../support/gateway.js'
import { askBothWays, codesIn } from '../../support/limits.js'
import { type Serving, serve } from '../../support/serving.js'

/** With so many artifacts of a million bytes, a page holds the fifth: it is the one that reaches 4 MiB. */
const COUNT = 8
const FITTING = 5

let gateway: Serving
let url: string

beforeAll(async () => {
  gateway = await serve({ limits: { maxResponseBytes: 9_000_000 } })
  url = gateway.url
  const text = 'x'.repeat(1_000_000)
  for (let n = 1; n <= COUNT; n++) {
    await post(url, {
      query: 'mutation ($input: CreateArtifactInput!) { createArtifact(input: $input) { __typename } }',
      variables: {
        input: { workspaceId: 'w1', artifactId: `a${n}`, kind: 'note', data: { title: '', text } },
      },
    })
  }
})

afterAll(() => gateway.stop())

const inWorkspace = (fields: string) => ({ query: `{ workspace(workspaceId: "w1") { ${fields} } }` })

const read = async (fields: string) => {
  const { body } = await post(url, inWorkspace(fields))
  expect(body.errors).toBeUndefined()
  return body.data.workspace
}

const idsFrom = (first: number, last: number) =>
  Array.from({ length: last - first + 1 }, (_, n) => ({ node: { artifactId: `a${first + n}` } }))

const page = (args: string) =>
  `artifacts(${args}) { edges { node { artifactId } } pageInfo { hasNextPage hasPreviousPage startCursor endCursor } }`

describe('a page whose entries are large', () => {
  it('has fewer of them than it was asked for, says that there are more, and is gone on from', async () => {
    const { artifacts } = await read(page('first: 50'))
    expect(artifacts.edges).toEqual(idsFrom(1, FITTING))
    expect(artifacts.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false })
    const { artifacts: rest } = await read(page(`first: 50, after: "${artifacts.pageInfo.endCursor}"`))
    expect(rest.edges).toEqual(idsFrom(FITTING + 1, COUNT))
    expect(rest.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
  })

  it('is cut from the other end as well', async () => {
    const { artifacts } = await read(page('last: 50'))
    expect(artifacts.edges).toEqual(idsFrom(COUNT - FITTING + 1, COUNT))
    expect(artifacts.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true })
    const { artifacts: rest } = await read(page(`last: 50, before: "${artifacts.pageInfo.startCursor}"`))
    expect(rest.edges).toEqual(idsFrom(1, COUNT - FITTING))
    expect(rest.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false })
  })
})

describe('events that are large', () => {
  it('are refused, since a list cannot say that it was cut short, and are had in smaller parts', async () => {
    for (const answer of await askBothWays(url, inWorkspace('events { seq }'))) {
      expect(codesIn(answer)).toEqual(['RESPONSE_TOO_LARGE'])
      expect(answer.body.errors[0].message).toMatch(`The first ${FITTING} of these events hold`)
    }
    const { events } = await read(`events(first: ${FITTING}) { seq }`)
    expect(events).toHaveLength(FITTING)
    expect((await read(`events(afterSeq: ${FITTING}) { seq }`)).events).toHaveLength(COUNT - FITTING)
  })

  it('are noted as far as they are looked at', async () => {
    const { body } = await post(url, inWorkspace('changeNotes(afterSeq: 0) { artifactId }'), {
      'x-user': 'bob',
    })
    const noted = body.data.workspace.changeNotes.map(({ artifactId }: { artifactId: string }) => artifactId)
    expect(noted.sort()).toEqual(
      idsFrom(COUNT - FITTING + 1, COUNT)
        .map(({ node }) => node.artifactId)
        .sort(),
    )
  })
})

describe('what a request reads', () => {
  it('counts although little of it is shown', async () => {
    const answers = await askBothWays(url, inWorkspace(`a: ${page('first: 50')} b: ${page('first: 50')}`))
    for (const answer of answers) {
      expect(codesIn(answer)).toEqual(['RESPONSE_TOO_LARGE'])
      expect(answer.body.errors[0].message).toMatch('would be read')
    }
  })

  it('counts in a batch as a whole', async () => {
    const { body } = await post(url, [inWorkspace(page('first: 50')), inWorkspace(page('first: 50'))])
    expect(body.map((result: object) => codesIn({ body: result }))).toEqual([[], ['RESPONSE_TOO_LARGE']])
  })

  it('counts where it is looked up by id', async () => {
    const lookUps = Array.from(
      { length: COUNT },
      (_, n) => `l${n}: artifact(artifactId: "a${n + 1}") { kind }`,
    )
    expect(Object.keys(await read(lookUps.join(' ')))).toHaveLength(COUNT)
    const { body } = await post(url, inWorkspace(`${page('first: 50')} ${lookUps.join(' ')}`))
    expect(new Set(codesIn({ body }))).toEqual(new Set(['RESPONSE_TOO_LARGE']))
  })
})
