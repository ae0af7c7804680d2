/**
 * JSON as it is stored: what `JSON.parse` gives back. What comes from outside passes `jsonInputSchema` once and is trusted from then on;
 * stored values are read leniently (`jsonSchema`).
 */
import { z } from 'zod'
import { textProblem } from './text.js'

export type JsonValue = null | boolean | number | string | JsonValue[] | JsonObject
export interface JsonObject {
  [key: string]: JsonValue
}

/** How many arrays and objects may be nested in one another; a number or string alone has depth 0. */
export const MAX_JSON_DEPTH = 64

/** How many values (lists, objects, texts, numbers, booleans and nulls) one JSON input may hold, itself and all that is nested in it counted. */
export const MAX_JSON_VALUES = 100_000

/** Keys through which code could reach outside the data (domain §5). They are refused, not stored. */
const unsafeKeys: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype'])

export const isUnsafeKey = (key: string): boolean => unsafeKeys.has(key)

export const isJsonObject = (value: JsonValue | undefined): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** A JSON value taken as it is: for what is stored. */
export const jsonSchema = z.custom<JsonValue>((value) => value !== undefined, 'is required')

/** Why a value is no JSON that may be stored, and where in it. */
export interface JsonProblem {
  readonly path: readonly string[]
  readonly message: string
}

/** The first problem of a value from outside, or `null` when it may be stored. It looks no deeper than `MAX_JSON_DEPTH`, and at no more than `MAX_JSON_VALUES`. */
export const jsonProblem = (value: unknown): JsonProblem | null =>
  problemAt(value, 0, { room: MAX_JSON_VALUES })

/** The problem of a whole that holds too much, wherever in it that is found. */
export const tooManyValues: JsonProblem = {
  path: [],
  message: `must hold at most ${MAX_JSON_VALUES} values`,
}

/** A look through a value. */
interface Walk {
  /** How many more values there is room for. */
  room: number
}

const problemAt = (value: unknown, depth: number, walk: Walk): JsonProblem | null => {
  if (walk.room-- === 0) return tooManyValues
  switch (typeof value) {
    case 'boolean':
      return null
    case 'number':
      return Number.isFinite(value) ? null : here('must be a finite number')
    case 'string':
      return here(textProblem(value))
    case 'object':
      return value === null ? null : containerProblem(value, depth, walk)
    case 'undefined':
    case 'bigint':
    case 'symbol':
    case 'function':
      return here('must be JSON')
  }
}

const here = (message: string | null): JsonProblem | null => (message === null ? null : { path: [], message })

/** A problem of an item, as its container sees it. */
const within = (key: string, problem: JsonProblem | null): JsonProblem | null =>
  problem === null || problem === tooManyValues
    ? problem
    : { path: [key, ...problem.path], message: problem.message }

const containerProblem = (container: object, depth: number, walk: Walk): JsonProblem | null => {
  if (depth >= MAX_JSON_DEPTH) return here(`must not be nested deeper than ${MAX_JSON_DEPTH} levels`)
  return Array.isArray(container)
    ? arrayProblem(container, depth, walk)
    : objectProblem(container, depth, walk)
}

const arrayProblem = (items: readonly unknown[], depth: number, walk: Walk): JsonProblem | null => {
  for (let index = 0; index < items.length; index++) {
    const problem = within(String(index), problemAt(items[index], depth + 1, walk))
    if (problem !== null) return problem
  }
  return null
}

const objectProblem = (object: object, depth: number, walk: Walk): JsonProblem | null => {
  if (!isPlain(object)) return here('must be JSON')
  for (const key of Object.keys(object)) {
    const item = object[key]
    const problem =
      keyProblem(key) ?? (item === undefined ? null : within(key, problemAt(item, depth + 1, walk)))
    if (problem !== null) return problem
  }
  return null
}

const keyProblem = (key: string): JsonProblem | null => {
  if (isUnsafeKey(key)) return { path: [key], message: 'is not allowed as a key' }
  const problem = textProblem(key)
  return here(problem && `has a key which ${problem}`)
}

/** Made by `{}` or `JSON.parse`, in whichever realm, or without a prototype. */
export const isPlain = (object: object): object is { readonly [key: string]: unknown } => {
  const prototype: unknown = Object.getPrototypeOf(object)
  return prototype === null || Object.getPrototypeOf(prototype) === null
}

/** A copy as JSON text would keep it: `-0` is 0, and a property that is `undefined` is absent. Only for what has no `jsonProblem`. */
const normalised = (value: JsonValue): JsonValue => {
  if (Array.isArray(value)) return value.map(normalised)
  if (!isJsonObject(value)) return value === 0 ? 0 : value
  const copy: JsonObject = {}
  for (const key of Object.keys(value)) {
    const item = value[key]
    if (item !== undefined) copy[key] = normalised(item)
  }
  return copy
}

/** A JSON value from outside: bounded in depth and in how many values it holds, without unsafe keys, non-finite numbers, U+0000 or lone surrogates. */
export const jsonInputSchema = z.custom<JsonValue>().transform((value, context): JsonValue => {
  const problem = value === undefined ? { path: [], message: 'is required' } : jsonProblem(value)
  if (problem === null) return normalised(value)
  context.addIssue({ code: 'custom', message: problem.message, path: [...problem.path] })
  return z.NEVER
})

/** Whether two JSON values are equal as RFC 6902 §4.6 has it: deeply, the order of an object's keys being irrelevant. */
export const jsonEqual = (a: JsonValue, b: JsonValue): boolean => {
  if (a === b) return true
  if (Array.isArray(a) && Array.isArray(b)) {
    return a.length === b.length && a.every((item, index) => jsonEqual(item, b[index] ?? null))
  }
  if (isJsonObject(a) && isJsonObject(b)) {
    const keys = Object.keys(a)
    return (
      keys.length === Object.keys(b).length &&
      keys.every((key) => Object.hasOwn(b, key) && jsonEqual(a[key] ?? null, b[key] ?? null))
    )
  }
  return false
}
