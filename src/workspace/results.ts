/**
 * The results of accepted commands (domain §7): a command that comes back with its `commandId` gets the first result again, and nothing
 * is carried out. What is kept is the outcome and where its events are; the log has the events themselves.
 */
import { createHash } from 'node:crypto'
import { z } from 'zod'
import type { Seq } from '../core/envelopes.js'
import { isJsonObject, type JsonValue, jsonSchema } from '../core/json.js'
import { invalid } from '../core/rejections.js'
import { type Outcome, outcomeSchema } from '../core/state.js'
import type { Scope, Storage } from '../storage/port.js'

const resultSchema = z.object({
  digest: z.string(),
  outcome: outcomeSchema,
  /** The `seq` of the first event it appended, and how many there were. */
  first: z.int(),
  count: z.int(),
  note: jsonSchema.optional(),
})

export interface StoredResult {
  readonly outcome: Outcome
  readonly first: Seq
  readonly count: number
  readonly note?: JsonValue | undefined
}

/** What tells whether two commands are the same: the order of keys does not matter. */
export const digestOf = (request: object): string =>
  createHash('sha256')
    .update(JSON.stringify(sorted(JSON.parse(JSON.stringify(request)))))
    .digest('base64url')

const sorted = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(sorted)
  if (!isJsonObject(value)) return value
  const entries = Object.entries(value).map(([key, item]): [string, JsonValue] => [key, sorted(item)])
  return Object.fromEntries(entries.sort(([a], [b]) => (a < b ? -1 : 1)))
}

export const serializeResult = (digest: string, result: StoredResult): string =>
  JSON.stringify({ digest, ...result })

/** @throws ValidationFailed when the id was used for another command. */
export const parseResult = (stored: string, digest: string): StoredResult => {
  const result = resultSchema.parse(JSON.parse(stored))
  if (result.digest !== digest) throw invalid(['commandId'], 'was used for a different command')
  return result
}

/** How long results are kept when nothing else is said: seven days, in milliseconds. */
export const RESULT_RETENTION = 7 * 24 * 60 * 60 * 1000

/** How many results are stored between two sweeps. */
const SWEEP_EVERY = 200

/** Forgets old results, now and then, in the workspace that has just stored one. */
export class Sweeper {
  readonly #storage: Storage
  readonly #retention: number
  #stored = 0

  constructor(storage: Storage, retention: number) {
    this.#storage = storage
    this.#retention = retention
  }

  /** Told of each stored result. A sweep that fails is made up for by a later one. */
  async stored(scope: Scope): Promise<void> {
    if (++this.#stored % SWEEP_EVERY === 0) {
      await this.#storage.forgetCommands(scope, this.#retention).catch(() => undefined)
    }
  }
}
