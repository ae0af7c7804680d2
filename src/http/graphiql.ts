/**
 * GraphiQL with everything it needs inside one page, so that a browser asks nobody but the gateway. The page has 9 MB: it is made when
 * it is first asked for, compressed once for each encoding, and a browser that has it is told so.
 */
import { createHash } from 'node:crypto'
import { promisify } from 'node:util'
import { brotliCompress, gzip, constants as zlib } from 'node:zlib'
import { exampleOperations } from './examples.js'
import { reply } from './reply.js'

type Encoding = 'br' | 'gzip' | 'identity'

interface Page {
  readonly body: Buffer<ArrayBuffer>
  readonly etag: string
}

const compressors = {
  // Above quality 5 it takes several times as long to save 3 %.
  br: (page: Buffer) => promisify(brotliCompress)(page, { params: { [zlib.BROTLI_PARAM_QUALITY]: 5 } }),
  gzip: (page: Buffer) => promisify(gzip)(page),
  identity: async (page: Buffer) => page,
} satisfies Record<Encoding, (page: Buffer) => Promise<Buffer>>

const pages = new Map<Encoding, Promise<Page>>()

/** Whether a browser asks for a page, rather than a client for data. */
export const wantsPage = ({ method, headers }: Request): boolean =>
  (method === 'GET' || method === 'HEAD') && (headers.get('accept') ?? '').includes('text/html')

/** The page, or 304 to a browser that has it. */
export const graphiqlResponse = async ({ headers }: Request): Promise<Response> => {
  const encoding = acceptedEncoding(headers.get('accept-encoding') ?? '')
  const { body, etag } = await pageIn(encoding)
  const head = {
    etag,
    // The same address answers data to other clients.
    vary: 'accept, accept-encoding',
    'cache-control': 'private, no-cache',
  }
  const known = (headers.get('if-none-match') ?? '').split(',').map((tag) => tag.trim().replace(/^W\//, ''))
  if (known.includes(etag)) return reply(304, null, head)
  return reply(200, body, {
    ...head,
    ...(encoding === 'identity' ? {} : { 'content-encoding': encoding }),
    'content-type': 'text/html; charset=utf-8',
    'content-security-policy': CONTENT_SECURITY_POLICY,
  })
}

/** Whatever GraphiQL or a plugin of it may come to do: no request leaves for another machine. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'self' 'unsafe-inline' 'unsafe-eval' blob: data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join('; ')

const acceptedEncoding = (header: string): Encoding => {
  const accepted = header
    .split(',')
    .map((part) => part.split(';').map((piece) => piece.trim().toLowerCase()))
    .filter(([, quality]) => quality === undefined || !/^q=0(\.0*)?$/.test(quality))
    .map(([name]) => name)
  return accepted.includes('br') ? 'br' : accepted.includes('gzip') ? 'gzip' : 'identity'
}

const pageIn = (encoding: Encoding): Promise<Page> => {
  const known = pages.get(encoding)
  if (known !== undefined) return known
  const made = makePage(encoding)
  pages.set(encoding, made)
  made.catch(() => pages.delete(encoding))
  return made
}

/**
 * GraphiQL opened with several tabs takes them for dragged, hides that with this very rule except on a tab with the focus, and so moves a
 * tab away from under the pointer that presses it: the click is lost.
 */
const TABS_THAT_CAN_BE_CLICKED = '.graphiql-tab{transform:none!important}'

const makePage = async (encoding: Encoding): Promise<Page> => {
  const { renderGraphiQL } = await import('@graphql-yoga/render-graphiql')
  const html = renderGraphiQL({
    title: 'artifactr gateway',
    defaultTabs: exampleOperations.map((query) => ({ query })),
    schemaDescription: true,
    inputValueDeprecation: true,
  })
  const page = html.replace('</head>', `<style>${TABS_THAT_CAN_BE_CLICKED}</style></head>`)
  const body = Buffer.from(await compressors[encoding](Buffer.from(page)))
  return { body, etag: `"${createHash('sha256').update(body).digest('base64url')}"` }
}
