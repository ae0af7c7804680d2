/**
 * The decisions of core (domain §4, the needs loop of ADR-0018): `needs` says what is still missing, `commit` and `record` decide. Pure:
 * the same item against the same state by the same actor gives the same result.
 */
import type { Actor } from './actors.js'
import { type Command, type CommandInput, commandSchema } from './commands.js'
import type { Context } from './context.js'
import { type Fact, type FactInput, factSchema } from './facts.js'
import { parseOrRefuse } from './issues.js'
import { checkLengths } from './lengths.js'
import { Forbidden } from './rejections.js'
import { type BoundRule, bind } from './rule.js'
import { recordAppEvent } from './rules/app.js'
import { changeArtifact } from './rules/artifacts.js'
import { giveFeedback } from './rules/feedback.js'
import { proposeChange, respondToProposal } from './rules/proposals.js'
import { answerDeferred, callTool, endRun, pauseRun, startRun } from './rules/runs.js'
import { createThread, postMessage, setFocus, setThreadMode } from './rules/threads.js'
import { type CommitResult, missing, type Needs, type State } from './state.js'

export type Item = CommandInput | FactInput

/**
 * The ids an item still needs, given what is loaded. Some items reveal more once their first entities are there: ask until it is empty.
 *
 * @throws Forbidden, ValidationFailed when the item is refused whatever the state.
 */
export const needs = (item: Item, state: State, context: Context): Needs =>
  missing(ruleFor(item, context).needs(state, context), state)

/**
 * Decides a command.
 *
 * @throws Rejection when it is refused; NotLoaded when the state lacks what `needs` asks for.
 */
export const commit = (command: CommandInput, state: State, context: Context): CommitResult =>
  ruleFor(command, context).decide(state, context)

/** Decides a fact; otherwise as `commit`. */
export const record = (fact: FactInput, state: State, context: Context): CommitResult =>
  ruleFor(fact, context).decide(state, context)

const ruleFor = (item: Item, context: Context): BoundRule => {
  onlyFeedbackFromEvaluators(item.type, context.actor)
  const { maxMessageLength } = context.definitions
  if (isFact(item)) {
    const fact = parseOrRefuse(factSchema, item)
    if (fact.type === 'app_event') checkLengths(fact, maxMessageLength)
    return factRule(fact)
  }
  const command = parseOrRefuse(commandSchema, item)
  checkLengths(command, maxMessageLength)
  if (command.type === 'propose_change') checkLengths(command.change, maxMessageLength, ['change'])
  return commandRule(command)
}

/** An evaluator gives feedback and nothing else, before anything else is checked (domain §3). @throws Forbidden */
export const onlyFeedbackFromEvaluators = (type: string, actor: Actor): void => {
  if (actor.kind === 'evaluator' && type !== 'give_feedback') {
    throw new Forbidden('an evaluator may give feedback and nothing else')
  }
}

const factTypes: ReadonlySet<string> = new Set(factSchema.options.map(({ shape }) => shape.type.value))

const isFact = (item: Item): item is FactInput => factTypes.has(item.type)

const commandRule = (command: Command): BoundRule => {
  switch (command.type) {
    case 'create_thread':
      return bind(createThread, command)
    case 'post_message':
      return bind(postMessage, command)
    case 'set_focus':
      return bind(setFocus, command)
    case 'set_thread_mode':
      return bind(setThreadMode, command)
    case 'create_artifact':
    case 'edit_artifact':
    case 'archive_artifact':
      return bind(changeArtifact, command)
    case 'propose_change':
      return bind(proposeChange, command)
    case 'respond_to_proposal':
      return bind(respondToProposal, command)
    case 'answer_deferred':
      return bind(answerDeferred, command)
    case 'give_feedback':
      return bind(giveFeedback, command)
  }
}

const factRule = (fact: Fact): BoundRule => {
  switch (fact.type) {
    case 'run_started':
      return bind(startRun, fact)
    case 'tool_called':
    case 'tool_returned':
      return bind(callTool, fact)
    case 'run_paused':
      return bind(pauseRun, fact)
    case 'run_ended':
      return bind(endRun, fact)
    case 'app_event':
      return bind(recordAppEvent, fact)
  }
}
