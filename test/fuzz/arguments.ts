/**
 * Values for arguments and input fields. The schema says of what type they are; what is known here by name makes many of them fit together,
 * and a field that nothing is known of gets whatever its type takes.
 */
import {
  type GraphQLInputObjectType,
  type GraphQLInputType,
  isEnumType,
  isInputObjectType,
  isListType,
  isNonNullType,
  isRequiredInputField,
} from 'graphql'
import type { Scope } from '../../src/storage/port.js'
import type { Draws } from './draws.js'
import { id, int, json, notInt, oddIds, pointer, seq, soundText, text } from './values.js'
import { type Known, type World, workspaces } from './world.js'

/** What a value is for. */
export interface Purpose {
  readonly draws: Draws
  readonly world: World
  readonly scope: Scope
  /** The field of Query, Mutation or Subscription it is under. */
  readonly operation: string
  /** The field whose argument it is, or is in. */
  readonly field: string
  /** What was chosen around it, by name, for instance the artifact whose version is to be given. */
  readonly given: Readonly<Record<string, unknown>>
  /** How often a value is what would be plausible, where that is known. */
  readonly plausibility: number
}

/** How often a value does not fit its type. */
const ILL_TYPED = 0.02

/** Most operations are to succeed, some to be refused for one thing, and a few for everything. */
export const plausibilityOf = (draws: Draws): number =>
  draws.weighted([6, () => 0.995], [3, () => 0.85], [1, () => 0.3])

export const valueFor = (name: string, type: GraphQLInputType, purpose: Purpose): unknown => {
  const { draws } = purpose
  if (isNonNullType(type)) return valueFor(name, type.ofType, purpose) ?? ofType(name, type.ofType, purpose)
  if (draws.chance(ILL_TYPED * (1 - purpose.plausibility) * 4))
    return draws.of(draws.oneOf([notInt, json, text]))
  const plausible = plausibly[name]
  if (plausible !== undefined && draws.chance(purpose.plausibility)) {
    const value = plausible(purpose, type)
    if (value !== undefined) return value
  }
  return draws.chance(0.1 * (1 - purpose.plausibility)) ? null : ofType(name, type, purpose)
}

const ofType = (name: string, type: GraphQLInputType, purpose: Purpose): unknown => {
  const { draws } = purpose
  if (isNonNullType(type)) return ofType(name, type.ofType, purpose)
  if (isInputObjectType(type)) return inputObject(type, purpose)
  if (isEnumType(type)) return draws.oneOf(type.getValues()).name
  if (isListType(type)) {
    const { ofType: itemType } = type
    const item = () => valueFor(name.replace(/s$/, ''), itemType, purpose)
    return Array.from({ length: draws.between(0, 3) }, item)
  }
  switch (type.name) {
    case 'ID':
      return draws.of(id)
    case 'Int':
      return draws.of(int)
    case 'Boolean':
      return draws.chance(0.5)
    case 'Seq':
      return draws.of(seq)
    case 'JSON':
      return draws.of(json)
    default:
      return draws.of(text)
  }
}

const inputObject = (type: GraphQLInputObjectType, purpose: Purpose): Record<string, unknown> => {
  const { draws } = purpose
  const fields = Object.values(type.getFields())
  const only = type.isOneOf && !draws.chance(0.01) ? draws.oneOf(fields) : null
  const object: Record<string, unknown> = {}
  let given = purpose.given
  for (const field of fields) {
    const isWanted =
      only === null ? isRequiredInputField(field) || draws.chance(wanted[field.name] ?? 0.4) : only === field
    if (!isWanted) continue
    const { name } = field
    const fieldType = only === null ? field.type : required(field.type)
    object[name] =
      only === null
        ? valueFor(name, fieldType, { ...purpose, given })
        : (valueFor(name, fieldType, { ...purpose, given }) ?? {})
    given = { ...given, [name]: object[name] }
  }
  return object
}

const required = (type: GraphQLInputType): GraphQLInputType => (isNonNullType(type) ? type.ofType : type)

/** How often an optional field is given, where it is not 0.4. */
const wanted: Readonly<Record<string, number>> = {
  commandId: 0.08,
  messageId: 0.8,
  artifactId: 0.8,
  changes: 0.15,
  kind: 0.25,
  threadId: 0.5,
  answer: 0.5,
  first: 0.85,
  last: 0.06,
  after: 0.25,
  before: 0.15,
  beforeSeq: 0.2,
  afterSeq: 0.6,
  field: 0.2,
}

type Plausible = (purpose: Purpose, type: GraphQLInputType) => unknown

const own = ({ world, scope }: Purpose): Known => world.of(scope)

const oneOf = <Value>({ draws }: Purpose, values: readonly Value[]): Value | undefined =>
  values.length === 0 ? undefined : draws.oneOf(values)

/** An id that is not used yet, probably; an odd one now and then. */
const fresh = ({ draws }: Purpose, prefix: string): string =>
  draws.chance(0.1) ? draws.oneOf(oddIds) : `${prefix}${draws.between(1, 100_000)}`

/** An id of something known, of another workspace, or of nothing. */
const known = (purpose: Purpose, prefix: string, ids: (known: Known) => readonly string[]): string => {
  const { draws, world, plausibility } = purpose
  return draws.weighted(
    [200 * plausibility ** 8, () => oneOf(purpose, ids(own(purpose))) ?? `${prefix}1`],
    [10, () => oneOf(purpose, ids(world.ofAny(draws))) ?? `${prefix}2`],
    [10, () => fresh(purpose, prefix)],
  )
}

/** An id that is to be new where the operation creates, and known elsewhere. */
const createdBy =
  (prefix: string, operations: readonly string[], ids: (known: Known) => readonly string[]): Plausible =>
  (purpose) =>
    operations.includes(purpose.operation) && purpose.draws.chance(0.9)
      ? fresh(purpose, prefix)
      : known(purpose, prefix, ids)

const isText = (type: GraphQLInputType): boolean =>
  (isNonNullType(type) ? type.ofType : type).toString() === 'String'

const dataOf = ({ draws, given }: Purpose): unknown => {
  const title = draws.of(soundText)
  switch (given['kind']) {
    case 'note':
      return { title, text: draws.oneOf(['alpha beta', 'alpha', draws.of(soundText)]) }
    case 'checklist':
      return { title, items: { i1: { title }, i2: { title, done: true } } }
    case 'free':
      return { title, value: draws.of(json) }
    default:
      return { title }
  }
}

/** A patch that applies to most of what there is. */
const soundPatch = ({ draws }: Purpose): unknown => {
  const title = draws.of(soundText)
  return draws.weighted<unknown>(
    [3, () => ({ jsonPatch: [{ op: 'replace', path: '/title', value: title }] })],
    [2, () => ({ textEdits: { edits: [{ old: 'alpha', new: `alpha ${title}` }] } })],
    [4, () => null],
  )
}

const plausibly: Readonly<Record<string, Plausible>> = {
  workspaceId: ({ draws, scope }) =>
    draws.chance(0.98) ? scope.workspaceId : draws.oneOf([...workspaces, ...oddIds]),
  threadId: createdBy('t', ['createThread'], ({ threads }) => threads),
  messageId: createdBy('m', ['postMessage'], ({ messages }) => messages.map(({ messageId }) => messageId)),
  artifactId: createdBy('a', ['createArtifact'], ({ artifacts }) =>
    artifacts.map(({ artifactId }) => artifactId),
  ),
  proposalId: createdBy(
    'p',
    ['createArtifact', 'editArtifact', 'archiveArtifact', 'proposeChange'],
    ({ proposals }) => proposals,
  ),
  runId: (purpose) => {
    const { waiting, runs } = own(purpose)
    const begun = purpose.world.begun
    if (purpose.operation === 'runOutput' && begun !== null && purpose.draws.chance(0.8)) return begun
    if (
      purpose.operation === 'answerDeferred' ||
      (purpose.operation === 'stopRun' && purpose.draws.chance(0.3))
    )
      return oneOf(purpose, waiting)?.runId ?? 'r1'
    return known(purpose, 'r', () => runs)
  },
  toolCallId: (purpose) =>
    own(purpose).waiting.find(({ runId }) => runId === purpose.given['runId'])?.toolCallId ?? 'call1',
  approved: (purpose) =>
    own(purpose).waiting.find(({ runId }) => runId === purpose.given['runId'])?.kind === 'QUESTION'
      ? null
      : purpose.draws.chance(0.5),
  commandId: ({ draws }) => `c${draws.between(1, 60)}`,
  baseVersion: (purpose) =>
    own(purpose).artifacts.find(({ artifactId }) => artifactId === purpose.given['artifactId'])?.version ?? 1,
  version: ({ draws }) => draws.between(1, 3),
  kind: ({ draws }, type) =>
    isText(type)
      ? draws.oneOf(['note', 'note', 'note', 'checklist', 'checklist', 'free', 'poem'])
      : undefined,
  title: ({ draws }) => draws.of(soundText),
  data: dataOf,
  change: (purpose, type) => ofType('change', type, purpose),
  patch: (purpose, type) => soundPatch(purpose) ?? ofType('patch', type, purpose),
  jsonPatch: ({ draws }) =>
    Array.from({ length: draws.between(0, 3) }, () => ({
      op: draws.oneOf(['add', 'replace', 'replace', 'remove', 'test', 'move', 'copy', 'toString']),
      path: draws.chance(0.5) ? '/title' : draws.of(pointer),
      ...(draws.chance(0.3) && { from: draws.of(pointer) }),
      ...(draws.chance(0.9) && { value: draws.of(draws.chance(0.7) ? soundText : json) }),
    })),
  old: ({ draws }) => draws.oneOf(['alpha', 'alpha', 'beta', '', draws.of(text)]),
  new: ({ draws }) => draws.oneOf(['alpha beta', 'gamma alpha', draws.of(text)]),
  field: ({ draws }) => draws.oneOf(['text', 'title', draws.of(text)]),
  changes: (purpose, type) =>
    purpose.draws.chance(0.5) ? null : (soundPatch(purpose) ?? ofType('changes', type, purpose)),
  feedbackType: ({ draws }) => draws.oneOf(['helpfulness', 'mark', 'mark', 'none']),
  value: ({ draws }) => ({
    rating: draws.between(1, 5),
    ...(draws.chance(0.3) && { reason: draws.of(soundText) }),
  }),
  content: ({ draws }) => {
    const rest = draws.of(soundText)
    const way = ['', '', '', '/ask ', '/ask ', '/approve ', '/note ', '/all ', '/all ', '/fail ', '/slow 30 ']
    return `${draws.oneOf(way)}${rest}`
  },
  name: ({ draws }) => draws.of(soundText),
  summary: ({ draws }) => draws.of(soundText),
  rationale: ({ draws }) => draws.of(soundText),
  reason: ({ draws }) => draws.of(soundText),
  first: ({ draws, field }) =>
    draws.chance(0.97) ? draws.between(0, field === 'events' ? 30 : 3) : undefined,
  after: ({ draws, world }) => world.cursor(draws) ?? undefined,
  before: ({ draws, world }) => world.cursor(draws) ?? undefined,
  afterSeq: ({ draws, world, scope }) => Math.max(0, world.of(scope).head - draws.between(0, 30)),
  beforeSeq: ({ draws, world, scope }) => world.of(scope).head + draws.between(-20, 5),
  id: ({ draws, world }) => world.globalId(draws) ?? undefined,
}

/** Whether an argument that may be left out is given. */
export const isGiven = (draws: Draws, name: string): boolean => draws.chance(wanted[name] ?? 0.4)
