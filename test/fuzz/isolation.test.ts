/** Nobody sees or affects what is another's, on every storage there is. */
import { onTestFinished, test } from 'vitest'
import { serve } from '../support/serving.js'
import { describeStorages } from '../support/storages.js'
import { definitions, unhurriedAgent } from './agent.js'
import { commandIdsAreTheirActorsOwn, tenantsAreIsolated, workspacesAreIsolated } from './isolated.js'

describeStorages((newSubject) => {
  const gateway = async () => {
    const storage = await (await newSubject()).open()
    const { url, stop } = await serve({ storage, agent: unhurriedAgent, ...definitions })
    onTestFinished(() => stop().then(() => undefined))
    return url
  }
  // As many runs wherever they take their time.
  const trials = { seed: 20_261_130, runs: 2, time: Infinity }

  test('what a tenant sees is what it would see if there were no other', async () => {
    await tenantsAreIsolated(await gateway(), trials)
  }, 120_000)

  test('what is seen of a workspace is what would be seen if the tenant had no other', async () => {
    await workspacesAreIsolated(await gateway(), trials)
  }, 120_000)

  test('the command ids of one actor are not those of another', async () => {
    await commandIdsAreTheirActorsOwn(await gateway(), trials)
  }, 120_000)
})
