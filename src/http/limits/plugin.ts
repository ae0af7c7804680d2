/**
 * Keeps the limits that hold for an operation, whichever transport it came by. All that can be refused is refused before anything is
 * done; the order is that of the files: the document, its cost, the caller's mutations or subscriptions, and then time.
 */
import {
  type ExecutionArgs,
  type ExecutionResult,
  GraphQLError,
  getOperationAST,
  OperationTypeNode,
} from 'graphql'
import { type GraphQLParams, isAsyncIterable, type Plugin } from 'graphql-yoga'
import type { GraphQLContext } from '../../graphql/context.js'
import { sizeOf } from '../../graphql/inputs.js'
import { badRequest } from '../errors.js'
import { type Exchange, exchangeOf, type Holding } from '../exchange.js'
import { costOf, tooComplex } from './cost.js'
import { parserWithin, validatorWithin } from './document.js'
import { noIntrospection } from './introspection.js'
import type { Limits } from './limits.js'
import { type Memory, noRoom, VALUE_BYTES } from './memory.js'
import { Mutations } from './mutations.js'
import { released, Subscriptions } from './subscriptions.js'
import { inTime, resultsInTime } from './time.js'

type Context = GraphQLContext & { readonly request: Request; readonly params: GraphQLParams }

type Executed = ExecutionResult | AsyncIterable<ExecutionResult>

export const useLimits = (limits: Limits, introspection: boolean, memory: Memory): Plugin<Context> => {
  const { maxCost, operationTimeout } = limits
  const hideSuggestions = !introspection
  const parse = parserWithin(limits)
  const validate = validatorWithin(limits, hideSuggestions)
  const mutations = new Mutations(limits)
  const subscriptions = new Subscriptions(limits)

  /** Why an operation is not carried out; `null` when it is, and counted. */
  const refusalOf = (args: ExecutionArgs, exchange: Exchange, caller: Context) => {
    const { schema, document, operationName, variableValues } = args
    const operation = getOperationAST(document, operationName)
    // Whoever executes it says what is wrong with it.
    if (!operation) return null
    const asked = { schema, document, operation, variables: variableValues ?? {} }
    const found = costOf(asked, hideSuggestions)
    if (!('cost' in found)) return found
    const cost = (exchange.cost ?? 0) + found.cost
    if (!(cost <= maxCost)) return [tooComplex(cost, maxCost)]
    const limited = mutations.take(caller, found.commands)
    if (limited !== null) return [limited]
    exchange.cost = cost
    return null
  }

  /** What is held for an operation: over HTTP for its request, until the response is taken; over a WebSocket for the operation alone. */
  const holdingOf = (exchange: Exchange, { tenantId, params }: Context): Holding => {
    const { holding = memory.hold(), transport } = exchange
    if (transport !== 'websocket') return holding
    holding.belongTo(tenantId)
    exchange.holding = holding
    const { values, units } = sizeOf(params)
    if (!holding.take(VALUE_BYTES * values + units)) throw noRoom()
    return holding
  }

  return {
    onParse: ({ setParseFn }) => setParseFn(parse),
    onValidate: ({ setValidationFn, addValidationRule }) => {
      setValidationFn(validate)
      if (!introspection) addValidationRule(noIntrospection)
    },
    onExecute: ({ args, executeFn, setExecuteFn, setResultAndStopExecution }) => {
      const { contextValue } = args
      const exchange = exchangeOf(contextValue.request)
      const errors = refusalOf(args, exchange, contextValue)
      if (errors !== null) return setResultAndStopExecution({ errors })
      const begin = (given: ExecutionArgs) =>
        holdingOf(exchange, contextValue).during(() =>
          inTime<Executed>(operationTimeout, typeOf(given), (signal) => {
            // The executor begins no field once it is aborted.
            const stoppable = { ...given, signal }
            return executeFn(stoppable)
          }),
        )
      setExecuteFn((given: ExecutionArgs) => refusing(() => begin(given)))
    },
    onSubscribe: ({ args, subscribeFn, setSubscribeFn, setResultAndStopExecution }) => {
      const { contextValue } = args
      const exchange = exchangeOf(contextValue.request)
      const errors =
        exchange.batch === undefined
          ? refusalOf(args, exchange, contextValue)
          : [badRequest('A subscription cannot be part of a batch.')]
      if (errors !== null) return setResultAndStopExecution({ errors })
      const begin = async (given: ExecutionArgs): Promise<Executed> => {
        const release = subscriptions.begin(contextValue)
        try {
          const executed = await inTime<Executed>(
            operationTimeout,
            OperationTypeNode.SUBSCRIPTION,
            () => subscribeFn(given),
            abandon,
          )
          if (isAsyncIterable(executed))
            return released(resultsInTime(operationTimeout, exchange, executed), release)
          release()
          return executed
        } catch (error) {
          release()
          throw error
        }
      }
      const holdMeanwhile = async (given: ExecutionArgs): Promise<Executed> => {
        const holding = holdingOf(exchange, contextValue)
        try {
          return await begin(given)
        } finally {
          // A stream that has begun holds nothing of what it was asked with: see streams/lean.ts.
          holding.release()
        }
      }
      setSubscribeFn((given: ExecutionArgs) => refusing(() => holdMeanwhile(given)))
    },
  }
}

const typeOf = ({ document, operationName }: ExecutionArgs): OperationTypeNode =>
  getOperationAST(document, operationName)?.operation ?? OperationTypeNode.QUERY

/** A limit that was met ends an operation with a result. */
const refusing = async (carryOut: () => Promise<Executed>): Promise<Executed> => {
  try {
    return await carryOut()
  } catch (error) {
    if (error instanceof GraphQLError) return { errors: [error] }
    throw error
  }
}

/** Ends a stream that nobody waits for any more. */
const abandon = (executed: Executed): void => {
  if (isAsyncIterable(executed)) void executed[Symbol.asyncIterator]().return?.()
}
