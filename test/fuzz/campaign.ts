/** A run of random requests against a gateway, each answer looked at, and its data once more when it is over. */
import { type GraphQLSchema, OperationTypeNode } from 'graphql'
import { createSchema } from '../../src/graphql/schema.js'
import type { Scope } from '../../src/storage/port.js'
import { answerProblems, type HttpAnswer, type Result, readResult, resultProblems } from './checks.js'
import { Client, converse, resultsIn, speak } from './client.js'
import { type Draws, drawsFor } from './draws.js'
import { type Operation, type OperationOptions, randomOperation } from './operations.js'
import { type HttpRequest, invalidRequest, mutilated, posted, validRequest, whoOf } from './requests.js'
import { shrunk } from './shrink.js'
import type { Tally } from './tally.js'
import { toJson } from './values.js'
import { BEGIN, scopes, surveyOf, World } from './world.js'

export interface CampaignOptions {
  readonly url: string
  readonly seed: number
  readonly requests: number
  /** Where it is counted. */
  readonly tally: Tally
}

/** Something that must not be, and what it was the answer to. */
export interface Finding {
  readonly index: number
  readonly problems: readonly string[]
  readonly asked: unknown
  readonly answer: string
}

/** How many findings end a run, and after how many requests a workspace is looked at again. */
const [ENOUGH, SURVEY_EVERY] = [12, 12]

/** The most requests under way at a time. */
const AT_ONCE = 6

export const campaign = async (options: CampaignOptions): Promise<readonly Finding[]> => {
  const { url, seed, requests, tally } = options
  const run = new Run(url, seed, tally)
  try {
    await run.begin()
    for (let index = 0; index < requests && run.findings.length < ENOUGH; ) {
      const burst = Math.min(requests - index, drawsFor(seed ^ 0x5bd1e995, index).between(1, AT_ONCE))
      if (index % SURVEY_EVERY < burst) await run.survey(index)
      await Promise.all(Array.from({ length: burst }, (_, n) => run.one(index + n)))
      index += burst
    }
    return run.findings
  } finally {
    run.close()
  }
}

class Run {
  readonly tally: Tally
  readonly findings: Finding[] = []
  readonly #url: string
  readonly #seed: number
  readonly #client: Client
  readonly #schema: GraphQLSchema = createSchema()
  readonly #world = new World()

  constructor(url: string, seed: number, tally: Tally) {
    this.tally = tally
    this.#url = url
    this.#seed = seed
    this.#client = new Client(url)
  }

  close(): void {
    this.#client.close()
  }

  /** A thread and an artifact in each workspace, so that there is something from the start. */
  async begin(): Promise<void> {
    for (const { tenantId, workspaceId } of scopes)
      await this.#client.send(posted({ query: BEGIN, variables: { workspaceId } }, { 'x-tenant': tenantId }))
    for (const [n] of scopes.entries()) await this.survey(n * SURVEY_EVERY)
  }

  /** Looks at a workspace, each in its turn. */
  async survey(index: number): Promise<void> {
    const scope = scopes[Math.floor(index / SURVEY_EVERY) % scopes.length] as Scope
    const { query, variables } = surveyOf(scope)
    const answer = await this.#client.send(posted({ query, variables }, { 'x-tenant': scope.tenantId }))
    const { data } = JSON.parse(answer.text)
    if (data?.workspace) this.#world.surveyed(scope, data)
    else this.#found(index, ['a survey was not answered'], scope, answer.text)
  }

  async one(index: number): Promise<void> {
    const draws = drawsFor(this.#seed, index)
    const scope = draws.weighted(...scopes.map((each, n) => [n === 0 ? 4 : 1, () => each] as const))
    const options = this.#options(draws, scope)
    const asked: { request: unknown } = { request: null }
    const told = (request: unknown): void => {
      asked.request = request
    }
    try {
      await draws.weighted(
        [78, () => this.#http(index, validRequest(options), told)],
        [12, () => this.#http(index, invalidRequest(options), told)],
        [4, () => this.#stream(index, draws, scope, told)],
        [2, () => this.#watch(index, draws, scope, told)],
        [5, () => this.#socket(index, draws, scope, told)],
        [1, () => this.#rudeSocket(index, draws, scope, told)],
      )
    } catch (error) {
      this.#found(index, [`it could not be asked: ${error}`], asked.request, '')
    }
  }

  async #http(index: number, request: HttpRequest, told: (request: unknown) => void): Promise<void> {
    told(request)
    const { operation } = request
    this.tally.request(operation ? request.method : 'not as it should be')
    const answer = await this.#client.send(request)
    const problems = operation ? this.#problemsOf(operation, answer) : this.#problemsOfAny(answer)
    if (problems.length === 0 || operation === undefined || request.method !== 'POST')
      return this.#found(index, problems, request, answer.text)
    const smallest = await shrunk(operation, async (smaller) => {
      const again = await this.#client.send(posted(smaller, request.headers))
      return this.#problemsOf(smaller, again)[0] === problems[0]
    })
    this.#found(index, problems, posted(smallest, request.headers), answer.text)
  }

  #problemsOf(operation: Operation, answer: HttpAnswer): string[] {
    const { contentType, text } = answer
    if (contentType.startsWith('text/event-stream')) return this.#problemsOfStream(operation, answer)
    if (!contentType.includes('json')) return this.#problemsOfAny(answer)
    const { result, problems } = readResult(JSON.parse(text))
    this.#note(result)
    return [...problems, ...answerProblems(answer, result), ...this.#resultProblems(operation, result)]
  }

  /** Of an answer to what may or may not be an operation. */
  #problemsOfAny({ status, contentType, text }: HttpAnswer): string[] {
    const problems = status >= 500 ? [`the status is ${status}`] : []
    if (text.includes('node_modules')) problems.push('the answer shows the inside')
    if (!contentType.includes('json') || text === '') return problems
    const value: unknown = JSON.parse(text)
    if (typeof value === 'object' && value !== null && 'status' in value) return problems
    for (const one of Array.isArray(value) ? value : [value]) {
      const { result, problems: found } = readResult(one)
      this.#note(result)
      problems.push(...found)
    }
    return problems
  }

  #problemsOfStream(operation: Operation, { text, status }: HttpAnswer): string[] {
    const results = resultsIn(text).map(readResult)
    for (const { result } of results) this.#note(result)
    return [
      ...(status >= 500 ? [`the status is ${status}`] : []),
      ...results.flatMap(({ result, problems }) => [...problems, ...this.#resultProblems(operation, result)]),
    ]
  }

  async #stream(index: number, draws: Draws, scope: Scope, told: (request: unknown) => void): Promise<void> {
    this.tally.request('SSE')
    const operation = this.#operation(OperationTypeNode.SUBSCRIPTION, draws, scope)
    const resuming = draws.chance(0.2)
      ? { 'last-event-id': draws.oneOf(['0', '3', '999999', '-1', 'x', '1.5', '']) }
      : {}
    const request = posted(operation, {
      ...whoOf(draws, scope.tenantId),
      accept: 'text/event-stream',
      ...resuming,
    })
    told(request)
    const frames = draws.between(1, 30)
    const answer = await this.#client.send(
      request,
      (text) => resultsIn(text).length >= frames || text.includes('ReplayComplete'),
    )
    const problems = this.#problemsOfStream(operation, answer)
    if (!answer.contentType.startsWith('text/event-stream')) problems.push(`it is ${answer.contentType}`)
    this.#found(index, problems, request, answer.text)
  }

  /** Watches a run that has just begun. */
  async #watch(index: number, draws: Draws, scope: Scope, told: (request: unknown) => void): Promise<void> {
    const query = `mutation ($input: PostMessageInput!) { postMessage(input: $input) {
      ... on PostMessageSuccess { run { runId } } } }`
    const [threadId = 't1'] = this.#world.of(scope).threads
    const input = { workspaceId: scope.workspaceId, threadId, content: `/all ${draws.between(1, 99)}` }
    const posting = posted({ query, variables: { input } }, { 'x-tenant': scope.tenantId })
    const { data } = JSON.parse((await this.#client.send(posting)).text)
    this.#world.begun = data?.postMessage.run?.runId ?? null
    const options = { ...this.#options(draws, scope), only: 'runOutput' }
    const operation = randomOperation(OperationTypeNode.SUBSCRIPTION, options)
    const request = posted(operation, { 'x-tenant': scope.tenantId, accept: 'text/event-stream' })
    told(request)
    this.tally.request('SSE')
    const answer = await this.#client.send(request)
    this.#found(index, this.#problemsOfStream(operation, answer), request, answer.text)
  }

  async #socket(index: number, draws: Draws, scope: Scope, told: (request: unknown) => void): Promise<void> {
    const kinds = Object.values(OperationTypeNode)
    const operations = Array.from({ length: draws.between(1, 4) }, () =>
      this.#operation(draws.oneOf(kinds), draws, scope),
    )
    if (draws.chance(0.1))
      operations.push({ query: mutilated(draws, '{ viewer { tenantId } }'), variables: {} })
    told(operations)
    for (const _ of operations) this.tally.request('WebSocket')
    const { messages, code } = await converse(this.#url, whoOf(draws, scope.tenantId), operations, 150)
    const problems = code === null ? [] : [`the WebSocket was closed with ${code}`]
    for (const { id, type, payload } of messages) {
      const operation = operations[Number(id)]
      if (operation === undefined || type === 'complete') continue
      const { result, problems: found } = readResult(type === 'error' ? { errors: payload } : payload)
      this.#note(result)
      problems.push(...found, ...this.#resultProblems(operation, result))
    }
    this.#found(index, problems, operations, toJson(messages))
  }

  /** Messages that are not of the protocol, or come when they should not. */
  async #rudeSocket(
    index: number,
    draws: Draws,
    scope: Scope,
    told: (request: unknown) => void,
  ): Promise<void> {
    this.tally.request('WebSocket out of protocol')
    const init = toJson({
      type: 'connection_init',
      payload: draws.oneOf([null, {}, [], 1, { 'x-tenant': 'other' }, { headers: { 'x-user': '\u0000' } }]),
    })
    const subscribe = toJson({
      id: draws.oneOf(['1', '', '__proto__', '\ud800']),
      type: 'subscribe',
      payload: this.#operation(OperationTypeNode.QUERY, draws, scope),
    })
    const rude = [
      init,
      subscribe,
      mutilated(draws, subscribe),
      mutilated(draws, init),
      toJson({ type: 'complete', id: '1' }),
      toJson({ type: 'ping', payload: [] }),
      toJson({ type: 'next', id: '1' }),
      'null',
      '[]',
      '',
      '\u0000',
      Uint8Array.of(0xff, 0x00),
      '{"type":"__proto__"}',
    ]
    const said = Array.from({ length: draws.between(1, 5) }, () => draws.oneOf(rude))
    told(said.map(String))
    const { messages, code } = await speak(this.#url, whoOf(draws, scope.tenantId), said, 60)
    const isFine = code === null || [4400, 4401, 4403, 4409, 4429].includes(code)
    this.#found(
      index,
      isFine ? [] : [`the WebSocket was closed with ${code}`],
      said.map(String),
      toJson(messages),
    )
  }

  #operation(kind: OperationTypeNode, draws: Draws, scope: Scope): Operation {
    return randomOperation(kind, this.#options(draws, scope))
  }

  /** What has hardly been in an answer yet is asked for more often. */
  #options(draws: Draws, scope: Scope): OperationOptions {
    const isWanted = (field: string) => (this.tally.fields.get(field) ?? 0) < 3
    const onSelected = (field: string) => void this.tally.selected.add(field)
    return { schema: this.#schema, draws, world: this.#world, scope, isWanted, onSelected }
  }

  #resultProblems(operation: Operation, result: Result): string[] {
    const visit = (type: string, fields: Readonly<Record<string, unknown>>): void => {
      this.tally.answered(type, fields)
      this.#world.learn(type, fields)
    }
    return resultProblems({ schema: this.#schema, operation, visit }, result)
  }

  #note({ failures }: Result): void {
    this.tally.outcome(failures.map(({ code }) => code))
  }

  #found(index: number, problems: readonly string[], asked: unknown, answer: string): void {
    if (problems.length === 0) return
    this.findings.push({
      index,
      problems: [...new Set(problems)].slice(0, 5),
      asked,
      answer: answer.slice(0, 2_000),
    })
  }
}
