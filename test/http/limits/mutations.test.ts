/** How many mutations an actor may carry out: exactly so many, on a clock that the test has. */
import { describe, expect, it } from 'vitest'
import type { Caller } from '../../../src/graphql/context.js'
import { limitsOf } from '../../../src/http/limits/limits.js'
import { Mutations } from '../../../src/http/limits/mutations.js'
import { post } from '../../support/gateway.js'
import { askBothWays, askOverWebSocket, CREATE_THREAD, codesIn, errorsIn } from '../../support/limits.js'
import { serving } from '../../support/serving.js'

const user = (id: string, tenantId = 'acme'): Caller => ({ tenantId, actor: { kind: 'user', id } })
const ada = user('ada')

const bucket = (mutationRate: number, mutationBurst: number) => {
  const clock = { now: 0 }
  return { clock, mutations: new Mutations({ mutationRate, mutationBurst }, () => clock.now) }
}

describe('a token bucket', () => {
  it('gives the burst at once, then exactly the rate', () => {
    const { clock, mutations } = bucket(3, 10)
    for (let count = 0; count < 10; count++) expect(mutations.take(ada, 1)).toBeNull()
    let taken = 0
    for (clock.now = 0; clock.now < 100_000; clock.now++) if (mutations.take(ada, 1) === null) taken++
    // 3 a second: at 334 ms, 667 ms, 1,000 ms …
    expect(taken).toBe(299)
    expect(mutations.take(ada, 1)).toBeNull()
  })

  it('says to the millisecond when to come back, and refuses any earlier', () => {
    const { clock, mutations } = bucket(3, 10)
    mutations.take(ada, 10)
    expect(mutations.take(ada, 1)?.extensions).toMatchObject({ retryAfter: 0.334, retryable: true })
    clock.now = 333
    expect(mutations.take(ada, 1)?.extensions['retryAfter']).toBe(0.001)
    clock.now = 334
    expect(mutations.take(ada, 1)).toBeNull()
  })

  it('gives all that is asked for, or nothing', () => {
    const { mutations } = bucket(1, 10)
    expect(mutations.take(ada, 8)).toBeNull()
    expect(mutations.take(ada, 3)).not.toBeNull()
    expect(mutations.take(ada, 2)).toBeNull()
  })

  it('tells who asks for more than it holds that waiting is no use', () => {
    const { mutations } = bucket(1, 10)
    const refused = mutations.take(ada, 11)
    expect(refused?.extensions).not.toHaveProperty('retryAfter')
    expect(refused?.message).toContain('At most 10')
  })

  it('is each actor’s own, in each tenant', () => {
    const { mutations } = bucket(1, 1)
    const agent: Caller = { tenantId: 'acme', actor: { kind: 'external_agent', clientId: 'ada' } }
    for (const caller of [ada, user('bob'), user('ada', 'globex'), agent])
      expect(mutations.take(caller, 1)).toBeNull()
    expect(mutations.take(ada, 1)).not.toBeNull()
  })

  it('is forgotten once it is full again, so that there are only those of callers of late', () => {
    const { clock, mutations } = bucket(10, 20)
    for (let index = 0; index < 100_000; index++) {
      clock.now = index
      mutations.take(user(`u${index}`), 1)
    }
    // Each takes 100 ms to fill.
    expect(mutations.size).toBeLessThan(105)
  })

  it('is never met by a service that sends 200 mutations a second in bursts of 1,000', () => {
    const clock = { now: 0 }
    const mutations = new Mutations(limitsOf({}), () => clock.now)
    let refused = 0
    for (let burst = 0; burst < 1_000; burst++) {
      // Some come early and some late.
      clock.now = Math.max(clock.now, burst * 5_000 + (burst % 3) * 1_000)
      for (let count = 0; count < 1_000; count++) if (mutations.take(ada, 1) !== null) refused++
    }
    expect(refused).toBe(0)
  })

  it('of no rate lets everything through', () => {
    const { mutations } = bucket(0, 1)
    expect(mutations.take(ada, 1_000_000)).toBeNull()
    expect(mutations.size).toBe(0)
  })
})

describe('a mutation', () => {
  const once = { query: `mutation { ${CREATE_THREAD} }` }
  const headSeq = async (url: string): Promise<number> => {
    const { body } = await post(url, { query: '{ workspace(workspaceId: "w1") { headSeq } }' })
    return body.data.workspace.headSeq
  }

  it('too many is refused with 429 and when to come back, and not carried out', async () => {
    const { url } = await serving({ limits: { mutationRate: 0.01, mutationBurst: 2 } })
    for (let count = 0; count < 2; count++) expect(codesIn(await post(url, once))).toEqual([])
    const { status, headers, body } = await post(url, once, { accept: 'application/json' })
    expect([status, codesIn({ body })]).toEqual([429, ['RATE_LIMITED']])
    const extensions = errorsIn({ body })[0]?.extensions
    expect(extensions?.['retryable']).toBe(true)
    const retryAfter = Number(extensions?.['retryAfter'])
    expect(retryAfter).toBeGreaterThan(0)
    expect(retryAfter).toBeLessThanOrEqual(100)
    expect(headers.get('retry-after')).toBe(String(Math.ceil(retryAfter)))
    expect(await headSeq(url)).toBe(2)
    expect(codesIn(await post(url, once, { 'x-user': 'somebody-else' }))).toEqual([])
  })

  it('too many is refused over a WebSocket too, where it counts with the others', async () => {
    const { url } = await serving({ limits: { mutationRate: 0.001, mutationBurst: 1 } })
    expect(codesIn(await post(url, once))).toEqual([])
    const answer = await askOverWebSocket(url, once)
    expect(codesIn(answer)).toEqual(['RATE_LIMITED'])
    expect(errorsIn(answer)[0]?.extensions).not.toHaveProperty('http')
  })

  it('counts for each of its fields, and for those alone that are carried out', async () => {
    const { url } = await serving({ limits: { mutationRate: 0.001, mutationBurst: 3 } })
    const query = `mutation ($no: Boolean = false) {
      ...Two ...Two t: __typename ... @include(if: $no) { c: ${CREATE_THREAD} } d: createThread(input: { workspaceId: "w1" }) @skip(if: true) { __typename }
    } fragment Two on Mutation { a: ${CREATE_THREAD} b: ${CREATE_THREAD} }`
    expect(codesIn(await post(url, { query }))).toEqual([])
    expect(codesIn(await post(url, { query, variables: { no: true } }))).toEqual(['RATE_LIMITED'])
    expect(codesIn(await post(url, once))).toEqual([])
    for (const answer of await askBothWays(url, once)) expect(codesIn(answer)).toEqual(['RATE_LIMITED'])
    expect(await headSeq(url)).toBe(3)
  })

  it('in a batch counts as it does alone', async () => {
    const { url } = await serving({ limits: { mutationRate: 0.001, mutationBurst: 2 } })
    const { status, body } = await post(url, [once, once, once])
    expect(status).toBe(200)
    expect(body.map((result: object) => codesIn({ body: result }))).toEqual([[], [], ['RATE_LIMITED']])
    expect(await headSeq(url)).toBe(2)
  })
})
