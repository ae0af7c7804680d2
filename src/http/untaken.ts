/** Responses that are not taken: until when they are held, and for how long. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'

/** What is to be done when a connection is over. One listener for all of it, since a client may send many requests at once. */
const untilClosed = new WeakMap<Socket, Set<() => void>>()

const closingOf = (socket: Socket): Set<() => void> => {
  const known = untilClosed.get(socket)
  if (known !== undefined) return known
  const waiting = new Set<() => void>()
  untilClosed.set(socket, waiting)
  socket.once('close', () => {
    for (const then of [...waiting]) then()
  })
  return waiting
}

/** Told once, when a response was taken as a whole, or its connection is over: also that of one whose turn to be sent never came. */
export const whenTaken = ({ socket }: IncomingMessage, response: ServerResponse, then: () => void): void => {
  const waiting = closingOf(socket)
  const end = () => {
    waiting.delete(end)
    response.off('close', end)
    then()
  }
  waiting.add(end)
  response.once('close', end)
}

/**
 * Ends a connection of which nothing is taken for so long, in milliseconds, while some of a response waits to be. How much of it there is
 * makes no difference, as long as it is taken. Streams have a patience of their own, and their connections do without this.
 */
export const cutWhenStalled = (response: ServerResponse, timeout: number): void => {
  response.setTimeout(timeout, () => {
    if (response.writableLength > 0) response.destroy()
  })
}
