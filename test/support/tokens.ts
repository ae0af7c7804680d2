/** JSON Web Tokens, good and bad, and an issuer that has its keys behind a JWKS endpoint. */
import { createHmac } from 'node:crypto'
import { createServer } from 'node:http'
import { exportJWK, exportSPKI, generateKeyPair, type JWK, SignJWT } from 'jose'
import { onTestFinished } from 'vitest'

export const SECRET = 'a secret of the tests that has more than 32 bytes'

export const ISSUER = 'https://issuer.example'
export const AUDIENCE = 'artifactr'

/** The environment of a gateway that takes such tokens, and who it says is asking. */
export const TOKENS_TAKEN = { AUTH: 'jwt', JWT_SECRET: SECRET, JWT_ISSUER: ISSUER, JWT_AUDIENCE: AUDIENCE }

export const VIEWER = `{ viewer { tenantId actor { __typename displayName
  ... on UserActor { userId } ... on ExternalAgentActor { clientId } ... on EvaluatorActor { version } } } }`

/** In seconds since 1970. */
export const inSeconds = (seconds: number): number => Math.floor(Date.now() / 1000) + seconds

/** What a good token claims. */
export const goodClaims = () => ({
  iss: ISSUER,
  aud: AUDIENCE,
  tenant: 'acme',
  sub: 'ann',
  exp: inSeconds(60),
})

type Claims = Record<string, unknown>

/** A token with the shared secret: a good one, with other claims where they are given; those that are undefined are left out. */
export const tokenWith = (claims: Claims = {}, secret = SECRET): Promise<string> =>
  new SignJWT({ ...goodClaims(), ...claims }).setProtectedHeader({ alg: 'HS256' }).sign(Buffer.from(secret))

const encoded = (value: unknown): string => Buffer.from(JSON.stringify(value)).toString('base64url')

/** A token made by hand, with a header that no library would write. */
export const forgedToken = (
  header: object,
  { claims = {}, secret = '' }: { claims?: Claims; secret?: string } = {},
) => {
  const signed = `${encoded(header)}.${encoded({ ...goodClaims(), ...claims })}`
  const signature = secret === '' ? '' : createHmac('sha256', secret).update(signed).digest('base64url')
  return `${signed}.${signature}`
}

export const bearer = (token: string) => ({ authorization: `Bearer ${token}` })

interface SigningKey {
  readonly jwk: JWK
  /** As the endpoint of a careless issuer might have it too. */
  readonly pem: string
  sign(claims?: Claims, header?: { readonly kid?: string }): Promise<string>
}

export const makeKey = async (kid: string, alg = 'RS256'): Promise<SigningKey> => {
  const { publicKey, privateKey } = await generateKeyPair(alg, { extractable: true })
  return {
    jwk: { ...(await exportJWK(publicKey)), kid, use: 'sig', alg },
    pem: await exportSPKI(publicKey),
    sign: (claims = {}, header = { kid }) =>
      new SignJWT({ ...goodClaims(), ...claims }).setProtectedHeader({ alg, ...header }).sign(privateKey),
  }
}

export interface Issuer {
  readonly jwksUrl: string
  /** How often it was asked for its keys. */
  readonly asked: number
  /** What it answers from now on; `null` is a connection that is cut. */
  answer(keys: readonly JWK[] | string | null): void
}

/** An issuer's endpoint, on a server of its own that is gone when the test is over. */
export const openIssuer = async (...keys: readonly JWK[]): Promise<Issuer> => {
  let asked = 0
  let answer: readonly JWK[] | string | null = keys
  const server = createServer((_, response) => {
    asked++
    if (answer === null) return void response.destroy()
    const body = typeof answer === 'string' ? answer : JSON.stringify({ keys: answer })
    response.writeHead(200, { 'content-type': 'application/json', connection: 'close' }).end(body)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  return {
    jwksUrl: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/keys`,
    get asked() {
      return asked
    },
    answer: (next) => {
      answer = next
    },
  }
}
