import { EVENTS, type Frame, positionAfter } from './position.js'

interface EventSourceLike {
  readonly readyState: number
  addEventListener(type: string, listener: (event: { data?: unknown }) => void): void
  close(): void
}

/**
 * Follows the log. An `EventSource` comes back by itself whenever its connection ends, also after `complete`, and says with `Last-Event-ID`
 * where it was. It gives up for good when an answer is no stream; then it is begun anew after the last position.
 */
export const followLog = (
  open: (url: string) => EventSourceLike,
  url: string,
  workspaceId: string,
  afterSeq: number | null,
  onFrame: (frame: Frame) => void,
  onRefused: (errors: unknown) => void,
): (() => void) => {
  let position = afterSeq
  let source: EventSourceLike
  let again: ReturnType<typeof setTimeout> | undefined
  const begin = () => {
    const variables = JSON.stringify({ workspaceId, afterSeq: position })
    source = open(`${url}?${new URLSearchParams({ query: EVENTS, variables })}`)
    source.addEventListener('next', ({ data }) => {
      const result: { data?: { events: Frame }; errors?: { extensions?: { retryable?: boolean } }[] } =
        JSON.parse(String(data))
      if (result.errors && !result.errors.some(({ extensions }) => extensions?.retryable)) {
        source.close()
        onRefused(result.errors)
      }
      if (!result.data) return
      position = positionAfter(result.data.events)
      onFrame(result.data.events)
    })
    source.addEventListener('error', () => {
      if (source.readyState !== 2) return
      again = setTimeout(begin, 500 + 1000 * Math.random())
    })
  }
  begin()
  return () => {
    clearTimeout(again)
    source.close()
  }
}
