/**
 * Applying a JSON Patch (RFC 6902). The library `rfc6902` makes the changes; what it is lenient about is decided here first: pointers see own
 * properties only, array indices are exact, `test` compares as RFC 6902 §4.6 says, `move` resolves its target after the removal, and copies are bounded.
 */
import { applyPatch } from 'rfc6902'
import { safeParse } from '../issues.js'
import { isJsonObject, type JsonValue, jsonEqual, MAX_JSON_DEPTH } from '../json.js'
import { PatchFailed } from '../rejections.js'
import { describeOperation } from './describe.js'
import { excerpt } from './excerpt.js'
import { depthOf, sizeOf } from './measure.js'
import { type Operation, operationSchema } from './operations.js'
import { canAddAt, isProperPrefix, type Pointer, parsePointer, valueAt } from './pointer.js'

/**
 * How much one patch may copy and move, in UTF-16 units of text and keys: copying a document into itself doubles it each time, and moving it to and
 * fro takes as long as it is big. Everything that fits in an artifact can be moved once.
 */
const MAX_COPIED = 2_000_000

/** What a value counts as among them. To copy one takes far longer than to copy a unit of text. */
const VALUE_WEIGHT = 10

/**
 * How many items of lists may shift in one patch because others are put before them or taken away. Ten thousand steps at the start of a list of
 * ten thousand items are within it.
 */
const MAX_SHIFTED = 100_000_000

/** What the library is left to do. It works in place and cannot replace a root, so the data is a member of this. */
interface Document {
  data: JsonValue
  /** The lists and objects that are the patch's own, to be changed in place; all others belong to the data as it was. */
  readonly own: WeakSet<object>
  copied: number
  shifted: number
}

/** Applies each operation in turn; the data as it was stays as it is, and what no operation touches is shared with it. @throws PatchFailed when one does not apply. */
export const applyJsonPatch = (data: JsonValue, ops: readonly JsonValue[]): JsonValue => {
  const document: Document = { data, own: new WeakSet(), copied: 0, shifted: 0 }
  for (const [index, stored] of ops.entries()) {
    const refuse = refusal(index, stored)
    const { data: operation } = safeParse(operationSchema, stored)
    if (operation === undefined) throw refuse('is malformed')
    document.copied += copiedBy(operation, document)
    if (document.copied > MAX_COPIED) throw refuse('copies or moves too much')
    apply(document, operation, refuse)
  }
  return document.data
}

const copiedBy = (operation: Operation, { data }: Document): number =>
  'from' in operation ? sizeOf(valueAt(data, parsePointer(operation.from)) ?? null, VALUE_WEIGHT) : 0

type Refuse = (why: string) => PatchFailed

/** `operation 0 (replace /title) finds nothing at /title`. */
const refusal =
  (index: number, stored: JsonValue): Refuse =>
  (why) =>
    new PatchFailed(`operation ${index} (${describeOperation(stored)}) ${why}`)

const apply = (document: Document, operation: Operation, refuse: Refuse): void => {
  switch (operation.op) {
    case 'add':
      add(document, operation.path, operation.value, refuse)
      break
    case 'remove':
      remove(document, operation.path, refuse)
      break
    case 'replace':
      existing(document, operation.path, refuse)
      put(document, operation, refuse)
      break
    case 'copy':
      add(document, operation.path, existing(document, operation.from, refuse), refuse)
      break
    case 'move':
      move(document, operation, refuse)
      break
    case 'test':
      if (!jsonEqual(existing(document, operation.path, refuse), operation.value)) {
        throw refuse('finds another value')
      }
      break
  }
}

const existing = ({ data }: Document, path: string, refuse: Refuse): JsonValue => {
  const value = valueAt(data, parsePointer(path))
  if (value === undefined) throw refuse(`finds nothing at ${excerpt(path)}`)
  return value
}

const add = (document: Document, path: string, value: JsonValue, refuse: Refuse): void => {
  if (!canAddAt(document.data, parsePointer(path))) throw refuse('has no place to add to')
  put(document, { op: 'add', path, value }, refuse)
}

const remove = (document: Document, path: string, refuse: Refuse): void => {
  existing(document, path, refuse)
  if (path === '') throw refuse('would leave no data')
  change(document, { op: 'remove', path }, refuse)
}

/** RFC 6902 §4.4: a removal, followed at once by an addition. */
const move = (document: Document, { from, path }: { from: string; path: string }, refuse: Refuse): void => {
  const value = existing(document, from, refuse)
  if (isProperPrefix(parsePointer(from), parsePointer(path))) throw refuse('moves a value into itself')
  if (from === path) return
  remove(document, from, refuse)
  add(document, path, value, refuse)
}

interface Put {
  readonly op: 'add' | 'replace'
  readonly path: string
  readonly value: JsonValue
}

/** Keeps the data within the depth that may be stored after every step, so that no step can outgrow the stack. */
const put = (document: Document, { op, path, value }: Put, refuse: Refuse): void => {
  if (parsePointer(path).length + depthOf(value) > MAX_JSON_DEPTH) {
    throw refuse(`nests data deeper than ${MAX_JSON_DEPTH} levels`)
  }
  change(document, { op, path, value }, refuse)
}

type Change = Put | { readonly op: 'remove'; readonly path: string }

const change = (document: Document, { path, ...operation }: Change, refuse: Refuse): void => {
  const tokens = parsePointer(path)
  document.shifted += shiftedBy(operation.op, document, tokens)
  if (document.shifted > MAX_SHIFTED) throw refuse('shifts too many items')
  takeOver(document, tokens)
  const [error] = applyPatch(document, [{ ...operation, path: `/data${path}` }])
  if (error) throw new Error(`rfc6902 refused what was checked: ${error.message}`, { cause: error })
}

/** The items behind a place in a list, and the one at it. */
const shiftedBy = (op: Change['op'], { data }: Document, tokens: Pointer): number => {
  const list = op === 'replace' ? null : valueAt(data, tokens.slice(0, -1))
  const last = tokens.at(-1)
  return Array.isArray(list) && last !== '-' ? list.length - Number(last) : 0
}

/** Makes the lists and objects a pointer goes through the patch's own, so that they can be changed in place. */
const takeOver = (document: Document, tokens: Pointer): void => {
  document.data = ownOf(document, document.data)
  let parent = document.data
  for (const token of tokens.slice(0, -1)) {
    const owned = ownOf(document, valueAt(parent, [token]) ?? null)
    if (Array.isArray(parent)) parent[Number(token)] = owned
    else if (isJsonObject(parent)) parent[token] = owned
    parent = owned
  }
}

/** The value itself, or a copy of it that holds the same items. */
const ownOf = ({ own }: Document, value: JsonValue): JsonValue => {
  if (typeof value !== 'object' || value === null || own.has(value)) return value
  const copy = Array.isArray(value) ? [...value] : { ...value }
  own.add(copy)
  return copy
}
