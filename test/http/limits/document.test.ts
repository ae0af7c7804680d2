/** Documents that are too long, too deep or have too many aliases are refused, and cheaply. */
import { getIntrospectionQuery } from 'graphql'
import { describe, expect, it } from 'vitest'
import { exampleOperations } from '../../../src/http/examples.js'
import { post, startGateway } from '../../support/gateway.js'
import { askBothWays, codesIn, errorsIn } from '../../support/limits.js'
import { serving } from '../../support/serving.js'

const times = (count: number, make: (index: number) => string): string =>
  Array.from({ length: count }, (_, index) => make(index)).join(' ')

/** Fields nested through fragments alone. */
const nested = (depth: number): string => {
  const fragments = times(depth, (level) => {
    const inner = level === depth - 1 ? '__typename' : `...F${level + 1}`
    return `fragment F${level} on __Type { ofType { ${inner} } }`
  })
  return `{ __type(name: "Query") { ...F0 } } ${fragments}`
}

/** Each fragment uses the next one twice: 2^count fields. */
const doubling = (count: number): string =>
  `{ __type(name: "Query") { ...F0 } } ${times(count, (level) => {
    const next = level === count - 1 ? '{ name }' : `{ ...F${level + 1} }`
    return `fragment F${level} on __Type { a: ofType ${next} b: ofType ${next} }`
  })}`

describe('a document is refused', () => {
  it.each([
    ['of more tokens than are taken', `{ ${times(40, () => 'viewer')} }`, 'DOCUMENT_TOO_LONG', '40 tokens'],
    ['that is nested too deeply', '{ a { b { c { d { e { f } } } } } }', 'DOCUMENT_TOO_DEEP', '5 levels'],
    [
      'with too many aliases',
      `{ ${times(4, (index) => `a${index}: __schema`)} }`,
      'TOO_MANY_ALIASES',
      '3 aliases',
    ],
  ])('%s, over HTTP and over a WebSocket', async (_, query, code, told) => {
    const { url } = await serving({ limits: { maxTokens: 40, maxDepth: 5, maxAliases: 3 } })
    for (const answer of await askBothWays(url, { query })) {
      expect(codesIn(answer)).toEqual([code])
      expect(errorsIn(answer)[0]?.message).toContain(told)
    }
    const { status, body } = await post(url, { query })
    expect([status, body.data]).toEqual([400, undefined])
  })

  it('whose depth or aliases are in its fragments', async () => {
    const { url } = await serving({ limits: { maxDepth: 12, maxAliases: 3 } })
    expect(codesIn(await post(url, { query: nested(10) }))).toEqual([])
    expect(codesIn(await post(url, { query: nested(11) }))).toEqual(['DOCUMENT_TOO_DEEP'])
    const twice = '{ ...A ...A } fragment A on Query { a: viewer { b: tenantId } }'
    expect(codesIn(await post(url, { query: twice }))).toEqual(['TOO_MANY_ALIASES'])
  })

  it('at once when its fragments double at every level', async () => {
    const { url } = await serving({ limits: { maxDepth: 10_000 } })
    const before = performance.now()
    for (const answer of await askBothWays(url, { query: doubling(500) }))
      expect(codesIn(answer)).toEqual(['TOO_MANY_ALIASES'])
    expect(performance.now() - before).toBeLessThan(10_000)
  })

  it.each([
    ['fields', `${'{ a '.repeat(6000)}${'}'.repeat(6000)}`],
    ['inline fragments', `${'{ ... '.repeat(5000)}{ __typename }${'}'.repeat(5000)}`],
    ['lists', `{ a(b: ${'['.repeat(9000)}${']'.repeat(9000)}) }`],
  ])('when it would overflow a stack: %s', async (_, query) => {
    const { url } = await serving()
    const [code, ...others] = codesIn(await post(url, { query }))
    expect(['DOCUMENT_TOO_DEEP', 'GRAPHQL_VALIDATION_FAILED']).toContain(code)
    expect(others).toEqual([])
  })
})

describe('the environment', () => {
  it('says what the limits of a process are', async () => {
    const { url } = await startGateway({
      MAX_DEPTH: '2',
      MAX_COST: '100',
      MUTATION_RATE: '1',
      MUTATION_BURST: '1',
      INTROSPECTION: '0',
      GRAPHIQL: '0',
    })
    const code = async (query: string) => codesIn(await post(url, { query }))[0]
    expect(await code('{ a { b { c } } }')).toBe('DOCUMENT_TOO_DEEP')
    expect(await code('{ workspace(workspaceId: "w1") { headSeq } }')).toBe('QUERY_TOO_COMPLEX')
    expect(await code('{ __schema { description } }')).toBe('INTROSPECTION_DISABLED')
    const both = 'mutation { createThread(input: { workspaceId: "w1" }) { __typename } }'
    expect(await code(both)).toBe('QUERY_TOO_COMPLEX')
    const { status } = await fetch(`${url}/graphql`, { headers: { accept: 'text/html' } })
    expect(status).toBe(406)
  })
})

describe('a subscription is not valid', () => {
  const events = 'events(workspaceId: "w1")'
  it.each([
    ['a field', 'skip', `subscription ($a: Boolean!) { ${events} @skip(if: $a) { __typename } }`],
    ['a field, whatever it says', 'skip', `subscription { ${events} @skip(if: true) { __typename } }`],
    [
      'an inline fragment',
      'include',
      `subscription ($a: Boolean!) { ... on Subscription @include(if: $a) { ${events} { __typename } } }`,
    ],
    [
      'a fragment that is spread',
      'include',
      `subscription ($a: Boolean!) { ...F @include(if: $a) } fragment F on Subscription { ${events} { __typename } }`,
    ],
    [
      'a field of a fragment',
      'skip',
      `subscription ($a: Boolean!) { ...F } fragment F on Subscription { ... { ${events} @skip(if: $a) { __typename } } }`,
    ],
  ])('with a condition at its root, on %s', async (_, directive, query) => {
    const { url, logged } = await serving()
    const errors = {
      message: `Directive "@${directive}" may not be used at the root of a subscription.`,
      locations: [{ line: 1, column: query.indexOf('@') + 1 }],
      extensions: { code: 'GRAPHQL_VALIDATION_FAILED' },
    }
    for (const a of [true, false]) {
      for (const answer of await askBothWays(url, { query, variables: { a } }))
        expect(errorsIn(answer)).toEqual([errors])
      const { status, body } = await post(url, { query, variables: { a } })
      expect([status, body]).toEqual([400, { errors: [errors] }])
    }
    expect(logged.filter(({ level }) => level === 'error')).toEqual([])
  })
})

describe('a document is taken', () => {
  it('that is in a circle only by the rules of GraphQL, which name it', async () => {
    const { url } = await serving()
    const query = '{ ...A } fragment A on Query { ...B } fragment B on Query { ...A }'
    for (const answer of await askBothWays(url, { query }))
      expect(errorsIn(answer)[0]?.message).toContain('Cannot spread fragment "A" within itself')
  })

  it('with any number of __typename, and others without an alias', async () => {
    const { url } = await serving({ limits: { maxAliases: 0 } })
    const query = `{ ${times(50, (index) => `t${index}: __typename`)} viewer { tenantId } }`
    expect((await post(url, { query })).status).toBe(200)
  })

  it('with conditions where they may be', async () => {
    const { url } = await serving()
    const query = `query Q($a: Boolean!) { viewer @include(if: $a) { tenantId } }
      subscription S($a: Boolean!) { events(workspaceId: "w1") { __typename @skip(if: $a) } }`
    const { status, body } = await post(url, { query, operationName: 'Q', variables: { a: true } })
    expect([status, body]).toEqual([200, { data: { viewer: { tenantId: 'dev' } } }])
  })

  it('that GraphiQL sends: the introspection with everything, and its examples', async () => {
    const { url } = await serving()
    const introspection = getIntrospectionQuery({
      descriptions: true,
      specifiedByUrl: true,
      directiveIsRepeatable: true,
      schemaDescription: true,
      inputValueDeprecation: true,
      oneOf: true,
    })
    for (const query of [introspection, ...exampleOperations]) {
      const { status, body } = await post(url, { query })
      expect([status, body.errors]).toEqual([200, undefined])
    }
  })
})
