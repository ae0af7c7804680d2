/**
 * Reads an operation out of an HTTP request. Strict, because leniency here changes what a client meant: bytes that are not UTF-8 are
 * refused rather than replaced (another id), repeated parameters rather than dropped, and only JSON is taken from a body, so that
 * no HTML form of another site can post.
 */
import type { GraphQLParams } from 'graphql-yoga'
import { z } from 'zod'
import { readBody } from './body.js'
import { badRequest, refusal } from './errors.js'
import { checkBatch } from './limits/batch.js'
import type { Limits } from './limits/limits.js'
import { VALUE_BYTES } from './limits/memory.js'

const record = z.record(z.string(), z.unknown())

const paramsSchema = z.strictObject({
  query: z.string('must be a string').nullish(),
  documentId: z.string('must be a string').nullish(),
  operationName: z.string('must be a string').nullish(),
  variables: record.nullish(),
  extensions: record.nullish(),
})

/**
 * What is asked, or several of it in a batch. Whether there is a document for it is for others to say.
 *
 * @param hold Told of the bytes of memory it takes, before it takes them. What it throws ends the request.
 */
export const readParams = async (
  request: Request,
  { maxBodyBytes, maxBatch }: Pick<Limits, 'maxBodyBytes' | 'maxBatch'>,
  hold: (bytes: number) => void,
): Promise<GraphQLParams | GraphQLParams[]> => {
  const given =
    request.method === 'GET'
      ? fromQueryString(request.url, maxBodyBytes)
      : await fromBody(request, maxBodyBytes, hold)
  if (!Array.isArray(given)) return parseParams(given)
  checkBatch(given, maxBatch)
  return given.map(parseParams)
}

const parseParams = (given: unknown): GraphQLParams => {
  const { success, data, error } = paramsSchema.safeParse(given)
  if (success) return Object.fromEntries(Object.entries(data).filter(([, value]) => value !== null))
  throw badRequest(`The request is not understood: ${error.issues.map(describeIssue).join('; ')}.`)
}

const describeIssue = ({ code, path: [name], message, ...issue }: z.core.$ZodIssue): string => {
  if (code === 'unrecognized_keys' && 'keys' in issue)
    return `${issue.keys.map((key) => JSON.stringify(key)).join(', ')} is no parameter`
  if (name === undefined) return 'it must be a JSON object'
  return code === 'invalid_type' && 'expected' in issue && issue.expected === 'record'
    ? `${String(name)} must be an object`
    : `${String(name)} ${message}`
}

const JSON_PARAMS = new Set(['variables', 'extensions'])

const fromQueryString = (url: string, maxBytes: number): Record<string, unknown> => {
  if (url.length > maxBytes)
    throw refusal(
      414,
      'PAYLOAD_TOO_LARGE',
      `The address is longer than the ${maxBytes} bytes that are taken.`,
    )
  const start = url.indexOf('?')
  const [queryString = ''] = start < 0 ? [] : url.slice(start + 1).split('#')
  const params = new Map<string, unknown>()
  for (const pair of queryString.split('&').filter((part) => part !== '')) {
    const [name = '', ...value] = pair.split('=').map(percentDecoded)
    if (params.has(name)) throw badRequest(`The parameter ${JSON.stringify(name)} is given twice.`)
    const text = value.join('=')
    params.set(name, JSON_PARAMS.has(name) && text !== '' ? parseJson(text, name) : text === '' ? null : text)
  }
  return Object.fromEntries(params)
}

const percentDecoded = (text: string): string => {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    throw badRequest('The query string is not percent-encoded UTF-8.')
  }
}

const fromBody = async (
  request: Request,
  maxBodyBytes: number,
  hold: (bytes: number) => void,
): Promise<unknown> => {
  const [type = '', ...parameters] = (request.headers.get('content-type') ?? '')
    .split(';')
    .map((part) => part.trim().toLowerCase())
  const charset = parameters.find((parameter) => parameter.startsWith('charset='))?.slice(8) ?? 'utf-8'
  if (type !== 'application/json') throw unsupported('content-type must be application/json')
  if (!['utf-8', 'utf8', '"utf-8"'].includes(charset)) throw unsupported('a body must be in UTF-8')
  const encoding = request.headers.get('content-encoding') ?? 'identity'
  if (encoding !== 'identity') throw unsupported('a body must not be compressed')
  const body = await readBody(request, maxBodyBytes, hold)
  hold(VALUE_BYTES * signsIn(body))
  return parseJson(utf8Decoded(body), 'The body')
}

const unsupported = (problem: string) => refusal(415, 'UNSUPPORTED_MEDIA_TYPE', `Not supported: ${problem}.`)

/** By byte: 1 for the signs of JSON that go with a value. */
const signs = new Uint8Array(256)
for (const sign of Buffer.from('{[:,')) signs[sign] = 1

/** How many of them there are: at least as many as values, since some may be in texts. */
const signsIn = (body: Uint8Array): number => {
  let count = 0
  for (const byte of body) count += signs[byte] ?? 0
  return count
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

const utf8Decoded = (bytes: Uint8Array): string => {
  try {
    return utf8.decode(bytes)
  } catch {
    throw badRequest('The body is not UTF-8.')
  }
}

const parseJson = (text: string, what: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    throw badRequest(text === '' ? `${what} is empty.` : `${what} is not JSON.`)
  }
}
