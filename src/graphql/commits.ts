/** How every mutation carries out its command: here its input and its request become the options of the commit. */
import type { Seq } from '../core/envelopes.js'
import { type Event, type EventOf, type EventType, isKnown } from '../core/events.js'
import type { FactInput } from '../core/facts.js'
import { Rejection } from '../core/rejections.js'
import type { Outcome } from '../core/state.js'
import type { Handled } from '../runner/runner.js'
import type { CommandRequest } from '../workspace/ids.js'
import type { CommitOptions, Workspace } from '../workspace/workspace.js'
import { openWorkspace } from './access.js'
import type { GraphQLContext } from './context.js'
import { asInputPaths } from './paths.js'

/** What the input of every mutation holds. */
export interface CommandTarget {
  readonly workspaceId: string
  readonly commandId?: string | null | undefined
}

export interface CarriedOut<Result extends Outcome = Outcome> extends Handled {
  readonly workspace: Workspace
  readonly outcome: Result
  /** The last event it appended; `null` when it appended none. */
  readonly seq: Seq | null
}

/** @throws Rejection */
export const carryOut = async (
  context: GraphQLContext,
  target: CommandTarget,
  command: CommandRequest,
): Promise<CarriedOut> => {
  const workspace = await openWorkspace(context, target.workspaceId)
  try {
    const handled = await context.runner.handle(workspace, command, commitOptions(target))
    return carriedOut(workspace, handled)
  } catch (error) {
    tellOfRefusal(context, workspace, command, error)
    throw asInputPaths(error, command)
  }
}

/** As `carryOut`, for a fact. */
export const recordFact = async (
  context: GraphQLContext,
  target: CommandTarget,
  fact: FactInput,
): Promise<CarriedOut> => {
  const workspace = await openWorkspace(context, target.workspaceId)
  try {
    return carriedOut(workspace, await workspace.record(fact, commitOptions(target)))
  } catch (error) {
    tellOfRefusal(context, workspace, fact, error)
    throw error
  }
}

const tellOfRefusal = (
  { onRefused }: GraphQLContext,
  { scope }: Workspace,
  { type }: { readonly type: string },
  error: unknown,
): void => {
  if (error instanceof Rejection)
    onRefused?.({ command: type, workspace: scope.workspaceId, code: error.code })
}

const commitOptions = ({ commandId }: CommandTarget): CommitOptions => ({
  commandId: commandId ?? undefined,
})

const carriedOut = (workspace: Workspace, handled: Handled): CarriedOut => ({
  ...handled,
  workspace,
  seq: handled.envelopes.at(-1)?.seq ?? null,
})

/** The last event of a command that always appends one. */
export const lastSeq = ({ seq }: CarriedOut): Seq => {
  if (seq === null) throw new Error('a command that appends events appended none')
  return seq
}

/** The event of a type that a command always appends. */
export const appended = <Type extends EventType>({ envelopes }: CarriedOut, type: Type): EventOf<Type> => {
  for (const { event } of envelopes) {
    if (isKnown(event) && isOfType(event, type)) return event
  }
  throw new Error(`a command that appends ${type} did not`)
}

const isOfType = <Type extends EventType>(event: Event, type: Type): event is EventOf<Type> =>
  event.type === type

/** What was carried out with each of these outcomes. */
export type CarriedOutAs<Type extends Outcome['type']> = Type extends Outcome['type']
  ? CarriedOut<Extract<Outcome, { type: Type }>>
  : never

/** What was carried out, known to have one of these outcomes. */
export const withOutcome = <Type extends Outcome['type']>(
  done: CarriedOut,
  ...types: readonly Type[]
): CarriedOutAs<Type> => {
  if (hasOutcome(done, types)) return done
  throw new Error(`a command was ${done.outcome.type}, which it cannot be`)
}

const hasOutcome = <Type extends Outcome['type']>(
  done: CarriedOut,
  types: readonly Type[],
): done is CarriedOutAs<Type> => types.some((type) => type === done.outcome.type)
