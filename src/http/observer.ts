/** What is told of requests, operations and streams, to whoever counts them. */

export type Transport = 'http' | 'websocket'

interface RequestAnswered {
  readonly method: string
  readonly path: string
  readonly status: number
  /** Until the head of its response, in seconds. */
  readonly seconds: number
}

interface OperationEnded {
  /** `none` when it was refused before it was known what is asked. */
  readonly type: 'query' | 'mutation' | 'subscription' | 'none'
  /** As the client chose to call it, whatever that is. */
  readonly name: string | undefined
  /** The ids and other texts that came with it: none of them is to be taken for its name. */
  readonly mentions: () => Iterable<string>
  /** The code of its first error; `null` when it has none. */
  readonly code: string | null
  /** Of a subscription: until it began. */
  readonly seconds: number
}

/** A subscription that is open. */
export interface OpenStream {
  readonly transport: 'sse' | 'websocket'
  /** The field of the schema that it subscribes to. */
  readonly field: string
}

/** How a stream ended: by itself or with the gateway, by the reader, or because the reader stopped reading. */
export type Ending = 'completed' | 'dropped' | 'slow'

export interface HttpObserver {
  onRequestAnswered(request: RequestAnswered): void
  onOperationEnded(operation: OperationEnded): void
  onStreamBegan(stream: OpenStream): void
  onStreamEnded(stream: OpenStream, ending: Ending): void
  /** Given how many bytes are held for requests, whenever it is asked. */
  watchHeld(held: () => number): void
}
