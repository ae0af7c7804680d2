/** Watching a run: its output as it is produced, until it ends. */
import { createSourceEventStream, execute, parse } from 'graphql'
import { afterEach, describe, expect, it } from 'vitest'
import type { GraphQLContext } from '../../src/graphql/context.js'
import { createSchema } from '../../src/graphql/schema.js'
import { echoAgent } from '../../src/runner/agents/echo.js'
import { Runner } from '../../src/runner/runner.js'
import { MemoryData, MemoryStorage } from '../../src/storage/memory.js'
import { Workspaces } from '../../src/workspace/workspaces.js'
import { ada } from '../support/turns.js'

const schema = createSchema()
const document = parse(`subscription ($runId: ID!) { runOutput(workspaceId: "w1", runId: $runId) {
  __typename
  ... on PartStarted { runId part partKind toolName }
  ... on TextDelta { part delta }
  ... on PartEnded { part }
  ... on RunElsewhere { runId }
} }`)

const runners: Runner[] = []
afterEach(async () => {
  await Promise.all(runners.splice(0).map((runner) => runner.close()))
})

const startGateway = (data: MemoryData) => {
  const workspaces = new Workspaces(new MemoryStorage(data))
  const runner = new Runner({ workspaces, agent: echoAgent })
  runners.push(runner)
  const context: GraphQLContext = {
    tenantId: 'acme',
    actor: ada,
    workspaces,
    runner,
    authorize: () => true,
    requestId: 'r',
  }
  /** The stream of a run's output, or the errors there are instead. */
  const watch = (runId: string) =>
    createSourceEventStream({ schema, document, variableValues: { runId }, contextValue: context })
  /** All of it, as a client gets it. */
  const output = async (runId: string): Promise<unknown[]> => {
    const stream = await watch(runId)
    if (!(Symbol.asyncIterator in stream)) throw new Error(JSON.stringify(stream.errors))
    const frames: unknown[] = []
    for await (const rootValue of stream) {
      const { data } = await execute({
        schema,
        document,
        rootValue,
        variableValues: { runId },
        contextValue: context,
      })
      frames.push(data?.['runOutput'])
    }
    return frames
  }
  const workspace = workspaces.open('acme', 'w1', { actor: ada })
  const say = async (content: string): Promise<string> => {
    const { runId } = await runner.send(workspace, { type: 'post_message', threadId: 't1', content })
    return runId ?? ''
  }
  return { runner, workspace, watch, output, say }
}

describe('runOutput', () => {
  it('gives what a run has produced and the rest, and ends with the run', async () => {
    const { workspace, output, say } = startGateway(new MemoryData())
    await workspace.commit({ type: 'create_thread', threadId: 't1' })
    const runId = await say('/slow 200')
    expect(await output(runId)).toEqual([
      { __typename: 'PartStarted', runId, part: 0, partKind: 'TEXT', toolName: null },
      ...['You ', 'said: ', '/slow ', '200'].map((delta) => ({ __typename: 'TextDelta', part: 0, delta })),
      { __typename: 'PartEnded', part: 0 },
    ])
  })

  it('says so when another process carries the run out', async () => {
    const data = new MemoryData()
    const here = startGateway(data)
    const there = startGateway(data)
    await here.workspace.commit({ type: 'create_thread', threadId: 't1' })
    const runId = await there.say('/slow 60000')
    expect(await here.output(runId)).toEqual([{ __typename: 'RunElsewhere', runId }])
  })

  it('of a run that is over or paused has nothing', async () => {
    const { workspace, runner, output, say } = startGateway(new MemoryData())
    await workspace.commit({ type: 'create_thread', threadId: 't1' })
    const runId = await say('/ask Why?')
    await runner.drain()
    expect(await output(runId)).toEqual([])
  })

  it.each(['r9', '', '\u0000'])('of %j is an error that names the argument', async (runId) => {
    const { watch } = startGateway(new MemoryData())
    const result = await watch(runId)
    if (!('errors' in result)) throw new Error('there is no such run')
    expect(result.errors).toMatchObject([{ extensions: { code: 'BAD_USER_INPUT', argument: 'runId' } }])
  })
})
