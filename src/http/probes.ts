/** Health, readiness and metrics alone, for a port that only those reach who look after the gateway. */
import { randomUUID } from 'node:crypto'
import type { RequestListener } from 'node:http'
import { internalErrorMessage, type Log } from './errors.js'
import { replyText } from './reply.js'
import { answerProbe, type ProbesOptions } from './routes.js'

export const createProbes =
  (probes: ProbesOptions, log: Log): RequestListener =>
  ({ url = '/', method }, response) => {
    const isHead = method === 'HEAD'
    const path = url.replace(/^\/+/, '')
    const asked = new Request(`http://probes/${path}`, {
      method: method === 'GET' || isHead ? 'GET' : 'POST',
    })
    answerProbe(asked, probes)
      .catch((err: unknown) => {
        const requestId = randomUUID()
        log.error({ requestId, err }, 'unforeseen error')
        return replyText(500, internalErrorMessage(requestId))
      })
      .then(async (answer) => {
        response.writeHead(answer.status, Object.fromEntries(answer.headers))
        response.end(isHead ? undefined : Buffer.from(await answer.arrayBuffer()))
      })
      .catch(() => response.destroy())
  }
