import fc from 'fast-check'
import { beforeAll, describe, expect, it } from 'vitest'
import { at, createThread, type Gateway, gateway, postMessage } from './gateway.js'

const here: Gateway = gateway()
const all = ['m1', 'm2', 'm3', 'm4', 'm5', 'm6', 'm7']

beforeAll(async () => {
  await createThread(here, 't1')
  await createThread(here, 't2')
  await createThread(here, 't3')
  for (const messageId of all) {
    await postMessage(here, { messageId })
    await postMessage(here, { messageId: `other-${messageId}`, threadId: 't2' })
  }
})

interface Page {
  readonly edges: readonly { readonly cursor: string; readonly node: { readonly messageId: string } }[]
  readonly pageInfo: {
    readonly hasNextPage: boolean
    readonly hasPreviousPage: boolean
    readonly startCursor: string | null
    readonly endCursor: string | null
  }
}

const query = `query ($threadId: ID!, $first: Int, $after: String, $last: Int, $before: String) {
  workspace(workspaceId: "w1") { thread(threadId: $threadId) {
    messages(first: $first, after: $after, last: $last, before: $before) {
      edges { cursor node { messageId } }
      pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
    } } } }`

const messages = async (args: Record<string, unknown> = {}): Promise<Page> => {
  const data = await here.run(query, { threadId: 't1', ...args })
  return JSON.parse(JSON.stringify(at(data, 'workspace', 'thread', 'messages')))
}

const idsOf = ({ edges }: Page) => edges.map(({ node }) => node.messageId)

describe('a connection', () => {
  it('gives everything, oldest first, when it fits on the page', async () => {
    const page = await messages()
    expect(idsOf(page)).toEqual(all)
    expect(page.pageInfo).toEqual({
      hasNextPage: false,
      hasPreviousPage: false,
      startCursor: page.edges[0]?.cursor,
      endCursor: page.edges[6]?.cursor,
    })
  })

  it('gives an empty page of a list that is empty', async () => {
    expect(await messages({ threadId: 't3' })).toEqual({
      edges: [],
      pageInfo: { hasNextPage: false, hasPreviousPage: false, startCursor: null, endCursor: null },
    })
  })

  it('pages through its list in either direction', async () => {
    const forwards: string[] = []
    for (let after: string | null | undefined = null; after !== undefined; ) {
      const page: Page = await messages({ first: 3, after })
      forwards.push(...idsOf(page))
      expect(page.pageInfo.hasPreviousPage).toBe(after !== null)
      after = page.pageInfo.hasNextPage ? page.pageInfo.endCursor : undefined
    }
    expect(forwards).toEqual(all)
    const backwards: string[] = []
    for (let before: string | null | undefined = null; before !== undefined; ) {
      const page: Page = await messages({ last: 3, before })
      backwards.unshift(...idsOf(page))
      expect(page.pageInfo.hasNextPage).toBe(before !== null)
      before = page.pageInfo.hasPreviousPage ? page.pageInfo.startCursor : undefined
    }
    expect(backwards).toEqual(all)
  })

  it('shows what a window over the whole list would show, and knows what stands on either side', async () => {
    const cursors = (await messages()).edges.map(({ cursor }) => cursor)
    const index = fc.option(fc.nat(all.length - 1), { nil: undefined })
    const size = fc.nat(all.length + 1)
    const args = fc.record({ after: index, before: index, size, end: fc.constantFrom('first', 'last') })
    await fc.assert(
      fc.asyncProperty(args, async ({ after, before, size, end }) => {
        const page = await messages({
          after: after === undefined ? undefined : cursors[after],
          before: before === undefined ? undefined : cursors[before],
          [end]: size,
        })
        const start = after === undefined ? 0 : after + 1
        const within = all.slice(start, Math.max(start, before ?? all.length))
        const shown =
          end === 'first' ? within.slice(0, size) : within.slice(Math.max(0, within.length - size))
        expect(idsOf(page)).toEqual(shown)
        const { hasNextPage, hasPreviousPage } = page.pageInfo
        expect(hasNextPage).toBe(before !== undefined || (end === 'first' && within.length > size))
        expect(hasPreviousPage).toBe(after !== undefined || (end === 'last' && within.length > size))
      }),
      { numRuns: 200 },
    )
  })

  it('has 50 entries on a page by default and 200 at most', async () => {
    for (let i = 0; i < 51; i++) await createThread(here, `many-${i}`, 'w2')
    const threads = async (args: string) =>
      at(
        await here.run(
          `{ workspace(workspaceId: "w2") { threads${args} { edges { cursor } pageInfo { hasNextPage } } } }`,
        ),
        'workspace',
        'threads',
      )
    const byDefault = await threads('')
    expect(at(byDefault, 'edges')).toHaveLength(50)
    expect(at(byDefault, 'pageInfo', 'hasNextPage')).toBe(true)
    expect(at(await threads('(first: 200)'), 'edges')).toHaveLength(51)
    expect(at(await threads('(first: null, last: null)'), 'edges')).toHaveLength(50)
  })

  it('refuses pages that make no sense, naming the argument', async () => {
    const cases: [Record<string, unknown>, string][] = [
      [{ first: -1 }, 'first'],
      [{ last: -1 }, 'last'],
      [{ first: 201 }, 'first'],
      [{ last: 201 }, 'last'],
      [{ first: 1, last: 1 }, 'last'],
      [{ first: 0, last: 0 }, 'last'],
    ]
    for (const [args, argument] of cases) {
      const { errors } = await here.ask(query, { threadId: 't1', ...args })
      expect(errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument } }])
      expect(errors[0]?.message).toMatch(new RegExp(`^${argument} `))
    }
  })

  it('refuses cursors that are broken or of another list, naming the argument', async () => {
    const { edges } = await messages()
    const ofOtherThread = (await messages({ threadId: 't2' })).edges[0]?.cursor
    const data = await here.run('{ workspace(workspaceId: "w1") { threads { edges { cursor } } } }')
    const ofThreads = at(data, 'workspace', 'threads', 'edges', 0, 'cursor')
    const mine = edges[0]?.cursor ?? ''
    for (const cursor of ['', 'x', '12', mine.slice(1), `${mine}A`, `${mine}=`, ofOtherThread, ofThreads]) {
      for (const argument of ['after', 'before']) {
        const { errors } = await here.ask(query, { threadId: 't1', [argument]: cursor })
        expect(errors).toMatchObject([
          {
            message: `${argument} is no cursor of this list`,
            extensions: { code: 'BAD_USER_INPUT', argument },
          },
        ])
      }
    }
  })
})
