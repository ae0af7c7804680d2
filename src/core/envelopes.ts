/**
 * Stored events. An envelope is written as JSON in snake_case, so that other implementations can read a log, and read back as it is here
 * (domain §8).
 */
import { z } from 'zod'
import { type Actor, actorSchema } from './actors.js'
import { type Event, eventSchema, eventTypes, isKnown, type UnknownEvent } from './events.js'
import { isJsonObject, type JsonObject, type JsonValue } from './json.js'

/** A position in a workspace's log: 1 for its first event, with no gap. 0 stands before the first. */
export type Seq = number

export interface Envelope {
  readonly seq: Seq
  readonly id: string
  /** UTC, RFC 3339 with milliseconds. */
  readonly ts: string
  readonly workspaceId: string
  readonly threadId?: string | undefined
  readonly runId?: string | undefined
  readonly actor: Actor
  readonly traceparent?: string | undefined
  readonly event: Event | UnknownEvent
}

const headerSchema = z.object({
  seq: z.int(),
  id: z.string(),
  ts: z.string(),
  workspaceId: z.string(),
  threadId: z.string().optional(),
  runId: z.string().optional(),
  actor: actorSchema,
  traceparent: z.string().optional(),
})

/** Fields that hold values of the application, whose keys are not ours to rename. */
const opaque: ReadonlySet<string> = new Set(['data', 'value', 'answer', 'args', 'ops'])

const snake = (key: string): string => key.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
const camel = (key: string): string => key.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase())

const renameKeys = (value: JsonValue, rename: (key: string) => string): JsonValue => {
  if (Array.isArray(value)) return value.map((item) => renameKeys(item, rename))
  return isJsonObject(value) ? renameMembers(value, rename) : value
}

const renameMembers = (object: JsonObject, rename: (key: string) => string): JsonObject =>
  Object.fromEntries(
    Object.entries(object).map(([key, item]) => [
      rename(key),
      opaque.has(key) ? item : renameKeys(item, rename),
    ]),
  )

/** The stored form of an envelope. */
export const serializeEnvelope = ({ event, ...header }: Envelope): string =>
  JSON.stringify({ ...inSnakeCase(header), event: isKnown(event) ? inSnakeCase(event) : event.data })

const inSnakeCase = (value: object): JsonObject => renameMembers(JSON.parse(JSON.stringify(value)), snake)

/**
 * Reads a stored envelope. An event of a type this version does not know comes back as an `UnknownEvent`.
 *
 * @throws SyntaxError or ZodError when the text is no envelope at all.
 */
export const parseEnvelope = (text: string): Envelope => {
  const stored: JsonValue = JSON.parse(text)
  const { event, ...header } = isJsonObject(stored) ? stored : {}
  return {
    ...headerSchema.parse(renameKeys(header, camel)),
    event: parseEvent(event ?? null),
  }
}

/** The type of an `UnknownEvent` whose stored form is broken; its `data` is what is stored. */
const UNREADABLE = 'unreadable'

/**
 * As `parseEnvelope`, but what is broken comes back as an `UnknownEvent` of type `unreadable`: one envelope that cannot be read is not to
 * stop the log, and its place in it is not to go missing. Where its header is broken as well, it says nothing but its place.
 */
export const readEnvelope = (
  text: string,
  place: Pick<Envelope, 'seq' | 'workspaceId'>,
  onUnreadable: (error: unknown) => void,
): Envelope => {
  try {
    return parseEnvelope(text)
  } catch (error) {
    onUnreadable(error)
    return unreadableEnvelope(text, place)
  }
}

const unreadableEnvelope = (text: string, place: Pick<Envelope, 'seq' | 'workspaceId'>): Envelope => {
  const stored = jsonOr(text)
  const { event = null, ...header } = isJsonObject(stored) ? stored : {}
  const { success, data } = headerSchema.safeParse(renameKeys(header, camel))
  if (success) return { ...data, event: { type: UNREADABLE, unknown: true, data: event } }
  return {
    ...place,
    id: `${UNREADABLE}_${place.seq}`,
    ts: new Date(0).toISOString(),
    actor: { kind: 'system', name: UNREADABLE },
    event: { type: UNREADABLE, unknown: true, data: stored },
  }
}

/** What a text holds as JSON, or the text itself. */
const jsonOr = (text: string): JsonValue => {
  try {
    return JSON.parse(text)
  } catch {
    return text
  }
}

const parseEvent = (stored: JsonValue): Event | UnknownEvent => {
  const type = isJsonObject(stored) ? String(stored['type']) : ''
  const known = eventTypes.some((known) => known === type)
  return known ? eventSchema.parse(renameKeys(stored, camel)) : { type, unknown: true, data: stored }
}
