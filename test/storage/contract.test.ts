/** The contract suite, whole, against every storage there is: each fact on data of its own. */
import { test } from 'vitest'
import { storageContract } from '../../src/storage/contract/index.js'
import { describeStorages } from '../support/storages.js'

describeStorages((newSubject) => {
  for (const { fact, holds } of storageContract) test(fact, async () => holds(await newSubject()))
})
