/**
 * The contract of a storage, as facts to run against an implementation, with any test runner:
 *
 *     for (const { fact, holds } of storageContract) test(fact, () => holds(newSubject()))
 *
 * A storage keeps all of it. Domain §10 is where it comes from.
 */
import { commandFacts } from './commands.js'
import { followFacts } from './follow.js'
import { leaseFacts } from './leases.js'
import { listFacts } from './lists.js'
import { messageFacts } from './messages.js'
import type { Fact } from './subject.js'
import { transactionFacts } from './transactions.js'
import { turnFacts } from './turns.js'

export type { Fact, Subject } from './subject.js'

export const storageContract: readonly Fact[] = [
  ...messageFacts,
  ...transactionFacts,
  ...commandFacts,
  ...turnFacts,
  ...listFacts,
  ...leaseFacts,
  ...followFacts,
]
