/** Reads the body of a request, whatever pieces it comes in. */
import { badRequest, refusal } from './errors.js'

/** How much room there is for a body at first, in bytes. */
const LEAST_ROOM = 4_096

type Reader = ReadableStreamDefaultReader<Uint8Array>

/**
 * The body. Pieces are not kept: one of a byte takes as much memory as some hundred bytes.
 *
 * @param hold Told of the room that is made for it, in bytes.
 * @throws GraphQLError with code PAYLOAD_TOO_LARGE, as soon as that is known; or BAD_USER_INPUT when it breaks off.
 */
export const readBody = async (
  request: Request,
  maxBytes: number,
  hold: (bytes: number) => void,
): Promise<Uint8Array> => {
  const tooLarge = () =>
    refusal(413, 'PAYLOAD_TOO_LARGE', `The body is larger than the ${maxBytes} bytes that are taken.`)
  if (Number(request.headers.get('content-length') ?? 0) > maxBytes) throw tooLarge()
  const reader: Reader | undefined = request.body?.getReader()
  const read = () =>
    reader?.read().catch(() => {
      throw badRequest('The body broke off.')
    })
  let room = Buffer.alloc(0)
  let size = 0
  const makeRoom = (needed: number) => {
    const larger = Math.min(Math.max(LEAST_ROOM, 2 * room.length, needed), maxBytes)
    hold(larger - room.length)
    const made = Buffer.allocUnsafeSlow(larger)
    room.copy(made, 0, 0, size)
    room = made
  }
  try {
    for (let piece = await read(); piece?.value !== undefined; piece = await read()) {
      const end = size + piece.value.byteLength
      if (end > maxBytes) throw tooLarge()
      if (end > room.length) makeRoom(end)
      room.set(piece.value, size)
      size = end
    }
  } catch (error) {
    // The client hears of it at once; ending the stream here would cut the connection before it does.
    void discardRest(reader)
    throw error
  }
  return room.subarray(0, size)
}

const discardRest = async (reader: Reader | undefined): Promise<void> => {
  try {
    while ((await reader?.read())?.done === false);
  } catch {
    // The client went away.
  }
}
