/**
 * Messages of a WebSocket, apart from what they bring. Whoever speaks the protocol holds a message for as long as its operation lasts, and
 * has to know no more of it than which one it is.
 */
import { type ConnectionInitMessage, MessageType, parseMessage, type SubscribePayload } from 'graphql-ws'

/** The longest id of an operation, in UTF-16 units. */
const MAX_ID = 256

/** What a message brings: who it is, or what it asks for. */
export interface Brought {
  readonly credentials?: ConnectionInitMessage['payload']
  readonly asked?: SubscribePayload
}

export interface Message {
  /** The message without that, as text; no message when it was none. */
  readonly text: string
  readonly brought: Brought
}

const NONE: Message = { text: '', brought: {} }

export const messageIn = (text: string): Message => {
  try {
    const message = parseMessage(text)
    switch (message.type) {
      case MessageType.ConnectionInit:
        return { text: JSON.stringify({ type: message.type }), brought: { credentials: message.payload } }
      case MessageType.Subscribe: {
        const { type, id, payload } = message
        if (id.length > MAX_ID) return NONE
        return { text: JSON.stringify({ type, id, payload: { query: '' } }), brought: { asked: payload } }
      }
      default:
        return { text, brought: {} }
    }
  } catch {
    return NONE
  }
}
