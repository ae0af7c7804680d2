/** A request with much to do leaves others their turn, and ends when its time is over. */
import { expect, it, onTestFinished } from 'vitest'
import { post } from '../../support/gateway.js'
import { codesIn } from '../../support/limits.js'
import { serving } from '../../support/serving.js'

const FIELDS = 60

/** Events with so many values each, in one request, whose fields are carried out one after the other. */
const manyEvents = {
  query: `mutation ($data: JSON) { ${Array.from(
    { length: FIELDS },
    (_, n) => `e${n}: recordAppEvent(input: { workspaceId: "w1", name: "n", data: $data }) { __typename }`,
  ).join(' ')} }`,
  variables: { data: Array(50_000).fill({}) },
}

it('others have their turns between its fields', async () => {
  const { url } = await serving({ limits: { maxCost: Infinity } })
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  onTestFinished(() => clearInterval(timer))
  const { body } = await post(url, manyEvents)
  expect(Object.values(body.data)).toEqual(Array(FIELDS).fill({ __typename: 'RecordAppEventSuccess' }))
  expect(turns).toBeGreaterThan(FIELDS / 2)
})

it('is over when its time is, though it never waits', async () => {
  const { url } = await serving({ limits: { maxCost: Infinity, operationTimeout: 250 } })
  expect(codesIn(await post(url, manyEvents))).toContain('TIMEOUT')
  const { body } = await post(url, { query: '{ workspace(workspaceId: "w1") { headSeq } }' })
  expect(body.data.workspace.headSeq).toBeLessThan(FIELDS)
})
