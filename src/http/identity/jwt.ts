/**
 * Who asks, by a JSON Web Token in `Authorization: Bearer …`, verified with a shared secret or with the public keys of an issuer: never
 * with either as the token pleases. What it claims is all that is known of the caller.
 */
import { createSecretKey } from 'node:crypto'
import { errors, type JWTPayload, type JWTVerifyOptions, jwtVerify } from 'jose'
import { z } from 'zod'
import type { Actor } from '../../core/actors.js'
import { idSchema, nameSchema } from '../../core/text.js'
import type { Caller } from '../../graphql/context.js'
import { IdentityUnavailable, type ResolveActor, Unauthenticated } from './auth.js'
import { KeySet, type KeySetOptions } from './jwks.js'

interface Checks {
  /** How far clocks may be apart, in seconds; 5 unless given. */
  readonly clockTolerance?: number | undefined
}

/** Whoever has the secret can be anyone, so that issuer and audience add little: they are checked when given. */
interface BySecret extends Checks {
  /** Of HS256: at least 32 bytes, in UTF-8 where it is a text. */
  readonly secret: string | Uint8Array
  readonly issuer?: string | undefined
  readonly audience?: string | readonly string[] | undefined
  readonly jwksUrl?: never
}

/** An issuer signs tokens for others too, with the same keys: which of them are meant for this gateway has to be said. */
interface ByKeySet extends Checks {
  /** Where the issuer has its keys. Whoever can answer there can be anyone: `https`, unless the network is trusted. */
  readonly jwksUrl: string | URL
  /** What `iss` is. */
  readonly issuer: string
  /** What `aud` is, or has among others: one of these. */
  readonly audience: string | readonly string[]
  /** When keys are fetched. */
  readonly jwks?: KeySetOptions | undefined
  readonly secret?: never
}

export type JwtOptions = BySecret | ByKeySet

/** A secret that is shorter is easier to guess than the signatures it makes. */
export const MIN_SECRET_BYTES = 32

/** What an issuer may sign with: pairs of keys only, so that nothing public can be taken for a secret. */
const ASYMMETRIC = [
  ...['RS256', 'RS384', 'RS512', 'PS256', 'PS384', 'PS512'],
  ...['ES256', 'ES384', 'ES512', 'EdDSA', 'Ed25519'],
]

const DEFAULT_CLOCK_TOLERANCE = 5

/**
 * Verifies bearer tokens. One has `exp`, `sub` and `tenant`, and may have `name`, `actor_kind`, `actor_version` and `workspaces`.
 *
 * @throws TypeError when the options cannot be meant.
 */
export const jwtAuth = (options: JwtOptions): ResolveActor => {
  const { issuer, audience, clockTolerance = DEFAULT_CLOCK_TOLERANCE } = options
  const checks: JWTVerifyOptions = {
    clockTolerance,
    requiredClaims: ['exp'],
    ...(issuer !== undefined && { issuer }),
    ...(audience !== undefined && { audience: [audience].flat() }),
  }
  const verify = verifierOf(options, checks)
  return async ({ headers }) => {
    const token = tokenIn(headers)
    const claims = await verify(token).catch((error: unknown) => {
      throw refusalOf(error)
    })
    return callerOf(claims, clockTolerance)
  }
}

type Verify = (token: string) => Promise<JWTPayload>

const verifierOf = (options: JwtOptions, checks: JWTVerifyOptions): Verify => {
  if (options.secret !== undefined && options.jwksUrl !== undefined)
    throw new TypeError('jwtAuth takes a secret or a jwksUrl, and not both')
  if (options.secret !== undefined) {
    const secret = createSecretKey(Buffer.from(options.secret))
    if ((secret.symmetricKeySize ?? 0) < MIN_SECRET_BYTES)
      throw new TypeError(`the secret of jwtAuth must have at least ${MIN_SECRET_BYTES} bytes`)
    return async (token) => (await jwtVerify(token, secret, { ...checks, algorithms: ['HS256'] })).payload
  }
  if (!checks.issuer || !checks.audience?.length)
    throw new TypeError('jwtAuth with a jwksUrl takes an issuer and an audience too')
  const { key } = new KeySet(new URL(options.jwksUrl), options.jwks)
  return async (token) => (await jwtVerify(token, key, { ...checks, algorithms: ASYMMETRIC })).payload
}

const tokenIn = (headers: Headers): string => {
  const given = headers.get('authorization')
  const problem = 'credentials are required: Authorization: Bearer, and a token'
  if (given === null) throw new Unauthenticated(problem, { challenge: 'Bearer' })
  const token = /^Bearer +([a-z0-9._~+/-]+=*)$/i.exec(given)?.[1]
  if (token !== undefined) return token
  throw /^Bearer /i.test(given)
    ? badToken('the token is no JWT')
    : new Unauthenticated(problem, { challenge: 'Bearer' })
}

/** Says why, as RFC 6750 has it, and nothing of what the token says. */
const badToken = (problem: string): Unauthenticated =>
  new Unauthenticated(problem, { challenge: `Bearer error="invalid_token", error_description="${problem}"` })

/** What is wrong with a token, by what `jose` found. */
const problems: Readonly<Record<string, string>> = {
  [errors.JWTExpired.code]: 'the token has expired',
  [errors.JWSInvalid.code]: 'the token is no JWT',
  [errors.JWTInvalid.code]: 'the token is no JWT',
  [errors.JOSEAlgNotAllowed.code]: 'the token is not signed with an algorithm (alg) that is taken here',
  [errors.JOSENotSupported.code]: 'the token has extensions (crit) that are not known here',
  [errors.JWKSNoMatchingKey.code]: 'no key of the issuer is the one that the token names (kid, alg)',
  [errors.JWKSMultipleMatchingKeys.code]:
    'the token does not say (kid) which key of the issuer it is signed with',
  [errors.JWSSignatureVerificationFailed.code]: 'the signature of the token is wrong',
}

const refusalOf = (error: unknown): Error => {
  if (error instanceof errors.JWTClaimValidationFailed) return badToken(claimProblem(error))
  const problem = error instanceof errors.JOSEError ? problems[error.code] : undefined
  if (problem !== undefined) return badToken(problem)
  if (error instanceof IdentityUnavailable) return error
  // A key that cannot be used: the token may be as good as any.
  return new IdentityUnavailable('tokens cannot be verified', { cause: error })
}

const claimProblem = ({ claim, reason }: errors.JWTClaimValidationFailed): string => {
  if (reason === 'missing') return `the claim ${claim} is required`
  if (reason === 'invalid') return `the claim ${claim} must be a number`
  return claim === 'nbf'
    ? 'the token is not valid yet'
    : `the claim ${claim} names another than this gateway takes`
}

const kinds = ['user', 'external_agent', 'system', 'evaluator'] as const

const required = (what: string) => ({
  error: ({ input }: { readonly input?: unknown }) =>
    input === undefined ? 'is required' : `must be ${what}`,
})

const id = z.string(required('a string')).pipe(idSchema)

const claimsSchema = z.object({
  // As late as dates go.
  exp: z.number().max(8.64e12, 'must be a time'),
  tenant: id,
  sub: id,
  name: z.string(required('a string')).pipe(nameSchema).optional(),
  actor_kind: z.enum(kinds, { error: `must be ${kinds.join(', ')}` }).default('user'),
  actor_version: id.optional(),
  workspaces: z.array(id, required('a list of workspace ids')).optional(),
})

type Claims = z.infer<typeof claimsSchema>

const callerOf = (payload: JWTPayload, clockTolerance: number): Caller => {
  const { data: claims, error } = claimsSchema.safeParse(payload)
  if (error !== undefined) throw badToken(describe(error))
  const { tenant, workspaces, exp } = claims
  return {
    tenantId: tenant,
    actor: actorOf(claims),
    expiresAt: (exp + clockTolerance) * 1000,
    ...(workspaces !== undefined && { workspaces }),
  }
}

const describe = ({ issues: [issue] }: z.ZodError): string =>
  `the claim ${issue?.path.join('.')} ${issue?.message}`

const actorOf = ({ actor_kind: kind, sub, name, actor_version: version }: Claims): Actor => {
  const named = name === undefined ? {} : { name }
  switch (kind) {
    case 'user':
      return { kind, id: sub, ...named }
    case 'external_agent':
      return { kind, clientId: sub, ...named }
    case 'system':
      return { kind, name: sub }
    case 'evaluator':
      if (version === undefined) throw badToken('the claim actor_version is required of an evaluator')
      return { kind, name: sub, version }
  }
}
