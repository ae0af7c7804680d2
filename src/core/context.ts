/** What core decides with besides the item and the state: who acts, and what the application defines. */
import type { Actor } from './actors.js'
import type { ArtifactType } from './artifacts.js'
import { checklist, helpfulness, note } from './builtin.js'
import type { FeedbackType } from './feedback.js'

/** The application's definitions. They are the same for every workspace of a gateway. */
export interface Definitions {
  /** The types artifacts may be written as, by kind. What is stored of other kinds still reads. */
  readonly artifactTypes: ReadonlyMap<string, ArtifactType>
  /** By name. */
  readonly feedbackTypes: ReadonlyMap<string, FeedbackType>
  /** In UTF-16 units. */
  readonly maxMessageLength: number
  /** How much the data of an artifact may hold, in values and UTF-16 units of text and keys. */
  readonly maxArtifactSize: number
}

export interface DomainOptions {
  readonly artifacts?: readonly ArtifactType[] | undefined
  readonly feedback?: readonly FeedbackType[] | undefined
  /** The kinds this gateway lets anyone write, out of those defined; all of them when left out. */
  readonly allowedArtifacts?: readonly string[] | undefined
  /** In UTF-16 units; 65,536 when left out. */
  readonly maxMessageLength?: number | undefined
  /** In values and UTF-16 units of text and keys; 1,048,576 when left out. */
  readonly maxArtifactSize?: number | undefined
}

/** Puts an application's definitions together. @throws TypeError when two share a name, or the allow-list names an unknown kind. */
export const defineDomain = ({
  artifacts = [],
  feedback = [],
  allowedArtifacts,
  maxMessageLength = 65_536,
  maxArtifactSize = 1_048_576,
}: DomainOptions = {}): Definitions => ({
  artifactTypes: allowed(
    registry(artifacts, ({ kind }) => kind, 'artifact'),
    allowedArtifacts,
  ),
  feedbackTypes: registry(feedback, ({ name }) => name, 'feedback'),
  maxMessageLength,
  maxArtifactSize,
})

const registry = <Type>(
  types: readonly Type[],
  nameOf: (type: Type) => string,
  what: string,
): ReadonlyMap<string, Type> => {
  const byName = new Map<string, Type>()
  for (const type of types) {
    const name = nameOf(type)
    if (byName.has(name)) throw new TypeError(`${what} type ${name} is defined twice`)
    byName.set(name, type)
  }
  return byName
}

const allowed = (
  types: ReadonlyMap<string, ArtifactType>,
  kinds: readonly string[] | undefined,
): ReadonlyMap<string, ArtifactType> => {
  const unknown = kinds?.find((kind) => !types.has(kind))
  if (unknown !== undefined) throw new TypeError(`artifact type ${unknown} is allowed, but not defined`)
  return new Map([...types].filter(([kind]) => kinds?.includes(kind) ?? true))
}

/** What a gateway has that defines nothing of its own. */
export const defaultDefinitions: Definitions = defineDomain({
  artifacts: [note, checklist],
  feedback: [helpfulness],
})

export interface Context {
  readonly actor: Actor
  readonly definitions: Definitions
  /** The trace the commit belongs to; kept on runs and revisions. */
  readonly traceId?: string | undefined
}
