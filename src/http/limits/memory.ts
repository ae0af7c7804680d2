/**
 * How much may be held for requests in the whole process: what they ask, while it is read and answered, and what is made for them, until
 * their clients have taken it. A single request has bounds of its own, and is never refused here while nothing else is held.
 */
import type { GraphQLError } from 'graphql'
import { refusal, SOON } from '../errors.js'
import type { Holding } from '../exchange.js'
import type { Limits } from './limits.js'

/** About how many bytes a value takes besides its text. */
export const VALUE_BYTES = 32

export class Memory {
  readonly #most: number
  /** Nobody is in here who has nothing. */
  readonly #ofTenants = new Map<string | undefined, number>()
  #held = 0

  constructor({ maxHeldBytes }: Pick<Limits, 'maxHeldBytes'>) {
    this.#most = maxHeldBytes
  }

  /** In bytes. */
  get held(): number {
    return this.#held
  }

  hold(): Holding {
    let tenant: string | undefined
    let bytes = 0
    let works = 0
    let isReleased = false
    const free = () => {
      if (!isReleased || works > 0) return
      this.#add(tenant, -bytes)
      bytes = 0
    }
    const hasRoom = (more: number) => this.#held === bytes || this.#hasRoom(tenant, more)
    return {
      belongTo: (tenantId) => {
        this.#add(tenant, -bytes)
        tenant = tenantId
        this.#add(tenant, bytes)
      },
      take: (more) => {
        if (isReleased && works === 0) return true
        if (!hasRoom(more)) return false
        bytes += more
        this.#add(tenant, more)
        return true
      },
      hasRoom,
      during: async (work) => {
        works++
        try {
          return await work()
        } finally {
          works--
          free()
        }
      },
      release: () => {
        isReleased = true
        free()
      },
    }
  }

  /** One tenant has at most half of it. */
  #hasRoom(tenant: string | undefined, bytes: number): boolean {
    const ofTenant = this.#ofTenants.get(tenant) ?? 0
    return this.#held + bytes <= this.#most && ofTenant + bytes <= this.#most / 2
  }

  #add(tenant: string | undefined, bytes: number): void {
    this.#held += bytes
    const ofTenant = (this.#ofTenants.get(tenant) ?? 0) + bytes
    if (ofTenant > 0) this.#ofTenants.set(tenant, ofTenant)
    else this.#ofTenants.delete(tenant)
  }
}

/** There is no room for what is asked. */
export const noRoom = (): GraphQLError =>
  refusal(
    SOON.status,
    'SERVICE_UNAVAILABLE',
    'Too much is under way here. Nothing was begun: try again soon.',
    {
      retryable: true,
      headers: SOON.headers,
    },
  )

/** There is no room for the rest of a result. */
export const noRoomForResult = (): GraphQLError =>
  refusal(
    200,
    'SERVICE_UNAVAILABLE',
    'Too much is under way here for the rest of the result. Try again soon; what a mutation did is done.',
    { retryable: true },
  )
