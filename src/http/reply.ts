/** Responses that are no results of operations. */
import { STATUS_CODES } from 'node:http'

export const reply = (
  status: number,
  body: string | Uint8Array<ArrayBuffer> | null,
  headers: Record<string, string>,
): Response =>
  new Response(body, {
    status,
    statusText: STATUS_CODES[status] ?? '',
    headers: body === null ? headers : { ...headers, 'content-length': String(Buffer.byteLength(body)) },
  })

export const replyText = (status: number, text: string, headers: Record<string, string> = {}): Response =>
  reply(status, `${text}\n`, { 'content-type': 'text/plain; charset=utf-8', ...headers })
