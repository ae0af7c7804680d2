/** How long an operation may take. Whoever asked hears of it then, and nothing more of it is begun. */
import { type GraphQLError, OperationTypeNode } from 'graphql'
import { MAX_DELAY } from '../../graphql/subscriptions/deadline.js'
import { refusal } from '../errors.js'
import type { Exchange } from '../exchange.js'

const tookTooLong = (timeout: number, type: OperationTypeNode): GraphQLError =>
  refusal(504, 'TIMEOUT', `It took longer than ${timeout} ms. ${retryOf(type)}`, { retryable: true })

const retryOf = (type: OperationTypeNode): string => {
  switch (type) {
    case OperationTypeNode.QUERY:
      return 'Trying again is safe.'
    case OperationTypeNode.MUTATION:
      return 'It may have been carried out: trying again is safe with ids of your own, or a commandId.'
    case OperationTypeNode.SUBSCRIPTION:
      return 'Resume after the last position that came.'
  }
}

/**
 * What `begin` gives, unless it takes too long.
 *
 * @param begin Its signal is aborted when the time is over.
 * @param onLate Given what comes when nobody waits for it any more.
 * @throws GraphQLError with code TIMEOUT.
 */
export const inTime = async <Result>(
  timeout: number,
  type: OperationTypeNode,
  begin: (signal: AbortSignal) => Result | Promise<Result>,
  onLate: (result: Result) => void = () => undefined,
): Promise<Result> => {
  const abort = new AbortController()
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<never>((_, reject) => {
    const expire = () => {
      const error = tookTooLong(timeout, type)
      reject(error)
      abort.abort(error)
    }
    timer = setTimeout(expire, Math.min(timeout, MAX_DELAY)).unref()
  })
  try {
    const result = Promise.resolve(begin(abort.signal))
    result.then(
      (value) => {
        if (abort.signal.aborted) onLate(value)
      },
      () => undefined,
    )
    return await Promise.race([result, late])
  } finally {
    clearTimeout(timer)
  }
}

/** The same results, of which each may take so long to be made once its frame is there. Waiting for a frame has no end. */
export const resultsInTime = <Result>(
  timeout: number,
  exchange: Exchange,
  source: AsyncIterable<Result>,
): AsyncIterableIterator<Result> => {
  const results = source[Symbol.asyncIterator]()
  const end = async (): Promise<IteratorReturnResult<undefined>> => {
    exchange.onFrame = undefined
    await results.return?.()
    return { done: true, value: undefined }
  }
  let isOver = false
  const stream: AsyncIterableIterator<Result> = {
    [Symbol.asyncIterator]: () => stream,
    next: async () => {
      if (isOver) return { done: true, value: undefined }
      let timer: NodeJS.Timeout | undefined
      const late = new Promise<never>((_, reject) => {
        exchange.onFrame = () => {
          const expire = () => reject(tookTooLong(timeout, OperationTypeNode.SUBSCRIPTION))
          timer = setTimeout(expire, Math.min(timeout, MAX_DELAY)).unref()
        }
      })
      try {
        return await Promise.race([results.next(), late])
      } catch (error) {
        isOver = true
        // It waits for what hangs: that is not to be waited for here.
        end().catch(() => undefined)
        throw error
      } finally {
        clearTimeout(timer)
      }
    },
    return: end,
  }
  return stream
}
