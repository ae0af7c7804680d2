/** Whatever a token says, its caller is somebody or is told that they are not: it is never a fault of the gateway. */
import fc from 'fast-check'
import { GraphQLError } from 'graphql'
import { expect, it } from 'vitest'
import { authenticated } from '../../../src/http/identity/caller.js'
import { jwtAuth } from '../../../src/http/identity/jwt.js'
import { forgedToken, inSeconds, SECRET } from '../../support/tokens.js'

const resolveActor = jwtAuth({ secret: SECRET })

/** How it ends for who sends this; anything but the two ends fails. */
const endFor = async (authorization: string): Promise<'somebody' | 'nobody'> => {
  try {
    const { tenantId } = await authenticated(
      new Request('http://gateway/', { headers: { authorization } }),
      {},
      resolveActor,
    )
    expect(tenantId).not.toBe('')
    return 'somebody'
  } catch (error) {
    expect(error).toBeInstanceOf(GraphQLError)
    if (!(error instanceof GraphQLError)) throw error
    expect(error.extensions).toMatchObject({ code: 'UNAUTHENTICATED', http: { status: 401 } })
    expect(error.extensions['http']).toMatchObject({
      headers: {
        'www-authenticate': expect.stringMatching(
          /^Bearer( error="invalid_token", error_description="[^"\\]+")?$/,
        ),
      },
    })
    return 'nobody'
  }
}

const id = fc.oneof(fc.string({ unit: 'binary', maxLength: 300 }), fc.constantFrom('', 'ann', '\ud800'))
const anything = fc.jsonValue({ maxDepth: 2 })

const made = {
  exp: fc.oneof(fc.constant(inSeconds(600)), fc.double(), fc.maxSafeInteger(), anything),
  nbf: fc.oneof(fc.constant(0), fc.double(), anything),
  tenant: fc.oneof(id, anything),
  sub: fc.oneof(id, anything),
  name: fc.oneof(id, anything),
  actor_kind: fc.oneof(fc.constantFrom('user', 'external_agent', 'system', 'evaluator', 'agent'), anything),
  actor_version: fc.oneof(id, anything),
  workspaces: fc.oneof(fc.array(id), anything),
}

/** A few claims; the others are those of a good token. */
const claims = fc
  .tuple(fc.record(made), fc.subarray(Object.keys(made), { maxLength: 3 }))
  .map(([all, names]) => Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name))))

it('with any claims', async () => {
  const ends = new Set<string>()
  await fc.assert(
    fc.asyncProperty(claims, async (made) => {
      ends.add(await endFor(`Bearer ${forgedToken({ alg: 'HS256' }, { secret: SECRET, claims: made })}`))
    }),
    { numRuns: 1_000 },
  )
  expect(ends).toEqual(new Set(['somebody', 'nobody']))
})

it('with any header of a token, nobody is let in who has no secret', async () => {
  const header = fc.record(
    {
      alg: fc.oneof(fc.constantFrom('none', 'HS256', 'HS512', 'RS256', 'EdDSA'), anything),
      kid: anything,
      typ: anything,
      crit: fc.oneof(fc.array(fc.string()), anything),
      b64: fc.boolean(),
      jwk: anything,
    },
    { requiredKeys: [] },
  )
  await fc.assert(
    fc.asyncProperty(header, async (made) => {
      expect(await endFor(`Bearer ${forgedToken(made, { secret: 'a guess' })}`)).toBe('nobody')
    }),
    { numRuns: 500 },
  )
})

it('with any text in its place', async () => {
  const text = fc.string({
    unit: fc.integer({ min: 0x20, max: 0x7e }).map((code) => String.fromCharCode(code)),
  })
  await fc.assert(
    fc.asyncProperty(fc.constantFrom('', 'Bearer ', 'bearer  ', 'Basic '), text, async (scheme, rest) => {
      expect(await endFor(`${scheme}${rest}`)).toBe('nobody')
    }),
    { numRuns: 500 },
  )
})
