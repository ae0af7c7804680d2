import { type Client, createClient } from 'graphql-ws'
import { EVENTS, type Frame, resuming } from './position.js'

export const connect = (
  url: string,
  credentials: () => Record<string, string>,
  webSocketImpl?: unknown,
): Client =>
  createClient({
    url,
    webSocketImpl,
    // Asked at each connection, so that a token that has expired is not sent again.
    connectionParams: credentials,
    retryAttempts: Number.POSITIVE_INFINITY,
    shouldRetry: () => true,
    retryWait: () => new Promise((resolve) => setTimeout(resolve, 500 + 1000 * Math.random())),
  })

/** Follows the log for as long as it may. Returns how to stop. */
export const followLog = (
  client: Client,
  workspaceId: string,
  afterSeq: number | null,
  onFrame: (frame: Frame) => void,
  onRefused: (error: unknown) => void,
): (() => void) => {
  const { variables, came } = resuming({ workspaceId, afterSeq })
  let stop = () => {}
  const begin = () => {
    stop = client.subscribe<{ events: Frame }>(
      { query: EVENTS, variables },
      {
        next: ({ data, errors }) => {
          if (errors) return onRefused(errors)
          if (!data) return
          came(data.events)
          onFrame(data.events)
        },
        // SLOW_CONSUMER, TOKEN_EXPIRED, SERVICE_UNAVAILABLE: what came has no hole, and what follows is still there.
        error: (errors) => (isRetryable(errors) ? begin() : onRefused(errors)),
        complete: () => undefined,
      },
    )
  }
  begin()
  return () => stop()
}

const isRetryable = (errors: unknown): boolean =>
  Array.isArray(errors) && errors.some(({ extensions }) => extensions?.retryable === true)
