/** What is served before there is a gateway: the process lives, it is not ready, and whoever asks is to ask again. */
import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { type ErrorCode, SOON } from './errors.js'
import { SECURITY_HEADERS, UNLESS_SAID } from './securityHeaders.js'
import type { Served } from './server.js'
import { refuseUpgrade } from './streams/websocket.js'

/** Serves whatever it was given last. */
export interface Front extends Served {
  serve(served: Served): void
}

export const createFront = (): Front => {
  let served = starting
  return {
    handle: (request, response) => served.handle(request, response),
    upgrade: (request, socket, head) => served.upgrade(request, socket, head),
    serve: (next) => {
      served = next
    },
  }
}

const starting: Served = {
  handle: ({ url = '' }, response) => {
    const [path] = url.split('?')
    if (path === '/health') return answer(response, 200, { status: 'ok' })
    if (path === '/ready') return answer(response, 503, { status: 'starting' })
    const extensions = { code: 'SERVICE_UNAVAILABLE' satisfies ErrorCode, retryable: true }
    const errors = [{ message: 'The gateway is starting. Trying again is safe.', extensions }]
    answer(response, SOON.status, { errors }, SOON.headers)
  },
  upgrade: (_, socket) => refuseUpgrade(socket, '503 Service Unavailable'),
}

const answer = (response: ServerResponse, status: number, body: object, headers = {}): void => {
  response
    .writeHead(status, {
      ...SECURITY_HEADERS,
      ...UNLESS_SAID,
      ...headers,
      'content-type': 'application/json; charset=utf-8',
      'x-request-id': randomUUID(),
    })
    .end(JSON.stringify(body))
}
