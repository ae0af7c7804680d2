/** How many subscriptions a tenant and each of its actors may have under way at once, in this process. */
import type { GraphQLError } from 'graphql'
import { participantKey } from '../../core/actors.js'
import type { Caller } from '../../graphql/context.js'
import { refusal } from '../errors.js'
import type { Limits } from './limits.js'

export class Subscriptions {
  readonly #limits: Pick<Limits, 'maxSubscriptionsPerTenant' | 'maxSubscriptionsPerActor'>
  /** Nobody is in here who has none. */
  readonly #underWay = new Map<string, number>()

  constructor(limits: Pick<Limits, 'maxSubscriptionsPerTenant' | 'maxSubscriptionsPerActor'>) {
    this.#limits = limits
  }

  /**
   * Counts another one of a caller. Returns how to count it no more, which may be called again.
   *
   * @throws GraphQLError with code TOO_MANY_SUBSCRIPTIONS.
   */
  begin({ tenantId, actor }: Pick<Caller, 'tenantId' | 'actor'>): () => void {
    const { maxSubscriptionsPerTenant, maxSubscriptionsPerActor } = this.#limits
    const tenant = JSON.stringify([tenantId])
    const one = JSON.stringify([tenantId, participantKey(actor)])
    if (this.#count(one) >= maxSubscriptionsPerActor) throw tooMany('caller', maxSubscriptionsPerActor)
    if (this.#count(tenant) >= maxSubscriptionsPerTenant) throw tooMany('tenant', maxSubscriptionsPerTenant)
    const keys = [tenant, one]
    for (const key of keys) this.#underWay.set(key, this.#count(key) + 1)
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      for (const key of keys) {
        const rest = this.#count(key) - 1
        if (rest > 0) this.#underWay.set(key, rest)
        else this.#underWay.delete(key)
      }
    }
  }

  #count(key: string): number {
    return this.#underWay.get(key) ?? 0
  }
}

const tooMany = (whose: 'caller' | 'tenant', limit: number): GraphQLError =>
  refusal(
    429,
    'TOO_MANY_SUBSCRIPTIONS',
    `This ${whose} has ${limit} subscriptions under way, which is the most. End one, or come back later.`,
    { retryable: true, headers: { 'retry-after': '1' } },
  )

/** The same stream; `release` is told when it is over, whichever way that comes. */
export const released = <Result>(
  source: AsyncIterable<Result>,
  release: () => void,
): AsyncIterableIterator<Result> => {
  const results = source[Symbol.asyncIterator]()
  const stream: AsyncIterableIterator<Result> = {
    [Symbol.asyncIterator]: () => stream,
    next: async () => {
      try {
        const result = await results.next()
        if (result.done === true) release()
        return result
      } catch (error) {
        release()
        throw error
      }
    },
    return: async () => {
      release()
      await results.return?.()
      return { done: true, value: undefined }
    },
  }
  return stream
}
