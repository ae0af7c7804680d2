/** Isolation as properties: what somebody else does changes nothing of what one sees. */
import fc from 'fast-check'
import { expect } from 'vitest'
import { type Action, action, everything } from './deeds.js'
import { type Party, play, type Stories } from './isolation.js'

export interface Trials {
  readonly seed: number
  readonly runs: number
  /** When no further run begins, in milliseconds. */
  readonly time: number
}

/** Runs begin until the time is over; the first does whatever the time. */
const untilOver = ({ time }: Trials) => {
  const end = performance.now() + time
  let runs = 0
  return () => runs++ > 0 && performance.now() > end
}

const some = () => fc.array(action(), { minLength: 1, maxLength: 14 })

let count = 0

/** Parties that nobody was before. */
const tenants = (): [Party, Party] => {
  count++
  return [
    { tenantId: `tenant-a${count}`, workspaceId: 'w1' },
    { tenantId: `tenant-b${count}`, workspaceId: 'w1' },
  ]
}

const workspaces = (): [Party, Party] => {
  count++
  return [
    { tenantId: `tenant-${count}`, workspaceId: 'workspace-a' },
    { tenantId: `tenant-${count}`, workspaceId: 'workspace-b' },
  ]
}

const holds = async (
  url: string,
  trials: Trials,
  parties: () => [Party, Party],
  arbitrary: () => fc.Arbitrary<Action[]>,
  fixed: () => Action[] = everything,
) => {
  const isOver = untilOver(trials)
  const property = fc.asyncProperty(arbitrary(), arbitrary(), async (first, second) => {
    if (isOver()) return
    const playing = (actions: readonly [Action[], Action[]]): Promise<Stories> =>
      play({ url, parties: parties(), actions })
    const together = await playing([first, second])
    // What is the other's is named so in ids and envelopes.
    expect(JSON.stringify(together.first)).not.toMatch(/<(tenant|workspace) 1>/)
    expect(together.first).toEqual((await playing([first, []])).first)
    expect(together.second).toEqual((await playing([[], second])).second)
  })
  await fc.assert(property, {
    seed: trials.seed,
    numRuns: trials.runs,
    endOnFailure: true,
    examples: [[fixed(), fixed()]],
  })
}

/** Two tenants use the same ids, and each other's. */
export const tenantsAreIsolated = (url: string, trials: Trials): Promise<void> =>
  holds(url, trials, tenants, some)

/** Two workspaces of one tenant do; global ids are the tenant's, and may be asked for. */
export const workspacesAreIsolated = (url: string, trials: Trials): Promise<void> =>
  holds(
    url,
    trials,
    workspaces,
    () => some().map(withoutNodes),
    () => withoutNodes(everything()),
  )

const withoutNodes = (actions: readonly Action[]): Action[] => actions.filter(({ does }) => does !== 'node')

/** Actors of one workspace may give their commands the same ids: it is as if each had its own. */
export const commandIdsAreTheirActorsOwn = async (url: string, trials: Trials): Promise<void> => {
  const repeating = fc.array(action(), { minLength: 5, maxLength: 16 })
  const isOver = untilOver(trials)
  const property = fc.asyncProperty(repeating, async (actions) => {
    if (isOver()) return
    const playing = (commandId: (action: Action) => string) =>
      play({ url, parties: tenants(), actions: [actions, []], commandId })
    const shared = await playing(({ commandId }) => `c${(commandId ?? 0) % 2}`)
    const own = await playing(({ commandId, actor }) => `c${(commandId ?? 0) % 2}-${actor}`)
    expect(shared.first).toEqual(own.first)
  })
  await fc.assert(property, { seed: trials.seed, numRuns: trials.runs, endOnFailure: true })
}
