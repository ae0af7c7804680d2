/** One gateway, fuzzed on a storage and looked at when it is over. */
import { expect } from 'vitest'
import { createSchema } from '../../src/graphql/schema.js'
import type { Storage } from '../../src/storage/port.js'
import { post } from '../support/gateway.js'
import { serve } from '../support/serving.js'
import { busyAgent, definitions } from './agent.js'
import { campaign, type Finding } from './campaign.js'
import { type Ask, logProblems } from './log.js'
import { Tally } from './tally.js'
import { toJson } from './values.js'
import { scopes } from './world.js'

export interface Fuzzed {
  readonly tally: Tally
  readonly findings: readonly Finding[]
  /** What was logged as an error. */
  readonly errors: readonly string[]
  /** What does not fit in the logs of the workspaces. */
  readonly misfits: readonly string[]
}

const askAt =
  (url: string, headers: Record<string, string>): Ask =>
  async (query, variables) => {
    const { body } = await post(url, { query, variables }, headers)
    if (body.errors !== undefined) throw new Error(toJson(body.errors))
    return body.data
  }

/** How many requests a gateway gets before the next begins with nothing. */
const ROUND = 2_000

/** Fuzzes gateways one after the other, each on a storage of its own. */
export const fuzz = async (open: () => Promise<Storage>, seed: number, requests: number): Promise<Fuzzed> => {
  const tally = new Tally()
  const fuzzed = { tally, findings: [] as Finding[], errors: [] as string[], misfits: [] as string[] }
  for (let round = 0; round * ROUND < requests && fuzzed.findings.length === 0; round++) {
    const count = Math.min(ROUND, requests - round * ROUND)
    const { findings, errors, misfits } = await fuzzOne(await open(), seed + round, count, tally)
    fuzzed.findings.push(...findings)
    fuzzed.errors.push(...errors)
    fuzzed.misfits.push(...misfits)
  }
  return fuzzed
}

const fuzzOne = async (storage: Storage, seed: number, requests: number, tally: Tally): Promise<Fuzzed> => {
  const gateway = await serve({ storage, agent: busyAgent, ...definitions })
  const { url, logged } = gateway
  const findings = await campaign({ url, seed, requests, tally })
  const misfits: string[] = []
  for (const scope of scopes) {
    const problems = await logProblems(askAt(url, { 'x-tenant': scope.tenantId }), storage, scope).catch(
      (error) => [String(error)],
    )
    misfits.push(
      ...problems.map((problem) => `seed ${seed}, ${scope.tenantId} ${scope.workspaceId}: ${problem}`),
    )
  }
  const isInTime = await gateway.stop(30_000)
  if (!isInTime) misfits.push('the gateway did not stop in time')
  await storage.close()
  const errors = logged
    .filter(({ level }) => level === 'error')
    .map(
      ({ message, fields }) =>
        `${message}: ${fields['err'] instanceof Error ? fields['err'].stack : toJson(fields)}`,
    )
  return { tally, findings, errors, misfits }
}

export const report = ({ tally, findings, errors, misfits }: Fuzzed): string =>
  [
    tally.print(createSchema()),
    ...findings.map((finding) => `FOUND ${toJson(finding)}`),
    ...errors.slice(0, 10).map((error) => `LOGGED ${error}`),
    ...misfits.slice(0, 20).map((misfit) => `MISFIT ${misfit}`),
  ].join('\n')

/** Nothing was found. */
export const expectSound = ({ findings, errors, misfits }: Fuzzed): void => {
  expect({ findings, errors, misfits }).toEqual({ findings: [], errors: [], misfits: [] })
}
