/**
 * Applying a JSON Patch (RFC 6902). The library `rfc6902` makes the changes; what it is lenient about is decided here first: pointers see own
 * properties only, array indices are exact, `test` compares as RFC 6902 §4.6 says, `move` resolves its target after the removal, and copies are bounded.
 */
import { applyPatch } from 'rfc6902'
import { safeParse } from '../issues.js'
import { type JsonValue, jsonEqual, MAX_JSON_DEPTH } from '../json.js'
import { PatchFailed } from '../rejections.js'
import { describeOperation } from './describe.js'
import { excerpt } from './excerpt.js'
import { depthOf, sizeOf } from './measure.js'
import { type Operation, operationSchema } from './operations.js'
import { canAddAt, isProperPrefix, parsePointer, valueAt } from './pointer.js'

/**
 * How much one patch may copy and move, in values and UTF-16 units of text: copying a document into itself doubles it each time, and moving it
 * to and fro takes as long as it is big.
 */
const MAX_COPIED = 4_000_000

/** What the library is left to do. It works in place and cannot replace a root, so the data is a member of this. */
interface Document {
  data: JsonValue
}

/** Applies each operation in turn, to a copy. @throws PatchFailed when one does not apply. */
export const applyJsonPatch = (data: JsonValue, ops: readonly JsonValue[]): JsonValue => {
  const document: Document = { data: structuredClone(data) }
  let copied = 0
  for (const [index, stored] of ops.entries()) {
    const refuse = refusal(index, stored)
    const { data: operation } = safeParse(operationSchema, stored)
    if (operation === undefined) throw refuse('is malformed')
    copied += copiedBy(operation, document)
    if (copied > MAX_COPIED) throw refuse('copies or moves too much')
    apply(document, operation, refuse)
  }
  return document.data
}

const copiedBy = (operation: Operation, { data }: Document): number =>
  'from' in operation ? sizeOf(valueAt(data, parsePointer(operation.from)) ?? null) : 0

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
  change(document, { op: 'remove', path })
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
  change(document, { op, path, value })
}

type Change = Put | { readonly op: 'remove'; readonly path: string }

const change = (document: Document, { path, ...operation }: Change): void => {
  const [error] = applyPatch(document, [{ ...operation, path: `/data${path}` }])
  if (error) throw new Error(`rfc6902 refused what was checked: ${error.message}`, { cause: error })
}
