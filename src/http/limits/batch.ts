/**
 * Several operations in one HTTP request. They are carried out one after the other, in the order given: a later one sees what an earlier
 * one did, and a request has one operation under way, however many it holds.
 */
import type { Plugin } from 'graphql-yoga'
import { badRequest, refusal } from '../errors.js'
import { type Exchange, exchangeOf } from '../exchange.js'

/** @throws GraphQLError when a batch holds nothing or too much. */
export const checkBatch = (operations: readonly unknown[], maxBatch: number): void => {
  if (maxBatch <= 1)
    throw refusal(413, 'BATCH_TOO_LARGE', 'A request holds one operation: batches are not taken.')
  if (operations.length === 0) throw badRequest('The batch is empty.')
  if (operations.length > maxBatch)
    throw refusal(
      413,
      'BATCH_TOO_LARGE',
      `The batch has more than the ${maxBatch} operations that are taken.`,
    )
}

export const batchOf = (size: number): NonNullable<Exchange['batch']> => ({
  size,
  last: Promise.resolve(),
  over: [],
})

export const useBatchOrder = (): Plugin => ({
  onParams: ({ request, paramsHandler, setParamsHandler }) => {
    const exchange = exchangeOf(request)
    const { batch } = exchange
    if (batch === undefined) return
    setParamsHandler((payload) => {
      const result = batch.last.then(async () => {
        const startedAt = performance.now()
        try {
          return await paramsHandler(payload)
        } finally {
          batch.over.push({
            operation: exchange.operation,
            seconds: (performance.now() - startedAt) / 1000,
          })
          exchange.operation = undefined
        }
      })
      batch.last = result.catch(() => undefined)
      return result
    })
  },
})
