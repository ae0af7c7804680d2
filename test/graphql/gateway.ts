/** The schema behind yoga, over a storage in memory: what a client sees, without a server. */
import { getNamedType, isUnionType } from 'graphql'
import { createYoga } from 'graphql-yoga'
import type { Actor } from '../../src/core/actors.js'
import { isJsonObject, type JsonObject, type JsonValue } from '../../src/core/json.js'
import type { Authorize, GraphQLContext } from '../../src/graphql/context.js'
import { createSchema } from '../../src/graphql/schema.js'
import type { Agent } from '../../src/runner/agent.js'
import { Runner } from '../../src/runner/runner.js'
import { MemoryStorage } from '../../src/storage/memory.js'
import type { Storage } from '../../src/storage/port.js'
import { Workspaces, type WorkspacesOptions } from '../../src/workspace/workspaces.js'

const schema = createSchema()
const yoga = createYoga<GraphQLContext>({ schema, logging: false })

const ada: Actor = { kind: 'user', id: 'ada', name: 'Ada' }

interface Failure {
  readonly message: string
  readonly path?: readonly (string | number)[]
  readonly extensions?: { readonly code?: string; readonly argument?: string }
}

interface Answer {
  readonly data: JsonObject | null | undefined
  readonly errors: readonly Failure[]
}

interface GatewayOptions extends WorkspacesOptions {
  readonly storage?: Storage
  readonly authorize?: Authorize
  readonly tenantId?: string
  readonly actor?: Actor
  readonly traceparent?: string
  readonly agent?: Agent
}

export const gateway = ({
  storage = new MemoryStorage(),
  authorize = () => true,
  tenantId = 'acme',
  actor = ada,
  traceparent,
  agent,
  ...options
}: GatewayOptions = {}) => {
  const workspaces = new Workspaces(storage, options)
  // It looks for nothing by itself, so that what is asked of the storage is what was asked here.
  const runner = new Runner({ workspaces, agent: agent ?? null, recoverEvery: 3_600_000 })

  /** What the whole answer is. */
  const ask = async (query: string, variables: Record<string, unknown> = {}): Promise<Answer> => {
    const response = await yoga.fetch(
      'http://gateway/graphql',
      {
        method: 'POST',
        headers: { 'content-type': 'application/json' },
        body: JSON.stringify({ query, variables }),
      },
      { tenantId, actor, workspaces, runner, authorize, requestId: 'r1', traceparent },
    )
    const { data, errors = [] } = await response.json()
    return { data, errors }
  }

  /** The data of an answer without errors. */
  const run = async (query: string, variables?: Record<string, unknown>): Promise<JsonObject> => {
    const { data, errors } = await ask(query, variables)
    if (errors.length > 0 || !data) throw new Error(JSON.stringify(errors))
    return data
  }

  return { workspaces, runner, ask, run }
}

export type Gateway = ReturnType<typeof gateway>

/** Follows keys and indices into an answer. */
export const at = (value: JsonValue | undefined | null, ...path: readonly (string | number)[]): JsonValue =>
  path.reduce<JsonValue>((inner, key) => {
    const found = Array.isArray(inner) ? inner[Number(key)] : isJsonObject(inner) ? inner[key] : undefined
    if (found === undefined) throw new Error(`there is no ${key} in ${JSON.stringify(inner)}`)
    return found
  }, value ?? null)

/** What tests ask of each refusal that a result union has. */
const refusals: Readonly<Record<string, string>> = {
  InvalidState: 'code message reason entity entityId',
  NotFound: 'code message missing: entity missingId: entityId',
  VersionConflict: 'code message artifactId base head',
  ValidationFailed: 'code message issues { path message }',
  PatchFailed: 'code message',
  Forbidden: 'code message',
}

/** The selection of a mutation's result: what is asked of its success, and everything of its refusals. */
export const resultOf = (mutation: string, success: string): string => {
  const union = getNamedType(schema.getMutationType()?.getFields()[mutation]?.type)
  if (!isUnionType(union)) throw new Error(`${mutation} has no result union`)
  const members = union.getTypes().map(({ name }) => name)
  const refused = members
    .filter((name) => name in refusals)
    .map((name) => `... on ${name} { ${refusals[name]} }`)
  return `{ __typename ${success} ${refused.join(' ')} }`
}

/** Carries out a mutation in workspace w1, unless the input names another. */
export const mutate = async (
  { run }: Gateway,
  mutation: string,
  input: Record<string, unknown>,
  success = '',
): Promise<JsonValue> => {
  const type = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Input`
  const document = `mutation ($input: ${type}!) { ${mutation}(input: $input) ${resultOf(mutation, success)} }`
  return at(await run(document, { input: { workspaceId: 'w1', ...input } }), mutation)
}

export const createThread = (gateway: Gateway, threadId: string, workspaceId = 'w1') =>
  mutate(
    gateway,
    'createThread',
    { workspaceId, threadId },
    '... on CreateThreadSuccess { seq thread { id threadId title mode } }',
  )

/** The message is `posted` in the answer: a refusal's `message` is a text. */
export const postMessage = (gateway: Gateway, input: Record<string, unknown>) =>
  mutate(
    gateway,
    'postMessage',
    { threadId: 't1', content: 'Hello', ...input },
    `... on PostMessageSuccess {
      seq run { id } posted: message { id messageId threadId content kind seq run { runId } }
    }`,
  )
