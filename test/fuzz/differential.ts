/** One conversation with gateways on different storages: where their answers differ in anything but what is different each time. */
import { createSchema } from '../../src/graphql/schema.js'
import type { Agent } from '../../src/runner/agent.js'
import type { Scope, Storage } from '../../src/storage/port.js'
import { type Serving, serve } from '../support/serving.js'
import { busyAgent, definitions } from './agent.js'
import { Client } from './client.js'
import { drawsFor } from './draws.js'
import { isIdle } from './log.js'
import { Normaliser } from './normal.js'
import { type HttpRequest, invalidRequest, posted, validRequest } from './requests.js'
import { toJson } from './values.js'
import { scopes, surveyOf, World } from './world.js'

export interface Difference {
  readonly index: number
  readonly asked: string
  readonly answers: Readonly<Record<string, string>>
}

/** The first difference there is, or `null`. */
export const firstDifference = async (
  storages: Readonly<Record<string, Storage>>,
  seed: number,
  requests: number,
): Promise<Difference | null> => {
  const copies = await Promise.all(
    Object.entries(storages).map(async ([name, storage]) => new Copy(name, await servedHeld(storage))),
  )
  try {
    for (let index = 0; index < requests; index++) {
      const told = await Promise.all(copies.map((copy) => copy.answer(seed, index)))
      const [first] = told
      if (first === undefined || told.every(({ text }) => text === first.text)) continue
      const answers = Object.fromEntries(copies.map(({ name }, n) => [name, told[n]?.text ?? '']))
      return { index, asked: first.asked, answers }
    }
    return null
  } finally {
    await Promise.all(copies.map((copy) => copy.close()))
  }
}

/** Turns wait before their first step, so that an answer never depends on how far one has come. */
class Gate {
  #isOpen = false
  #waiting: (() => void)[] = []
  /** Where turns began since it was closed. */
  scopes: Scope[] = []

  readonly agent: Agent = {
    name: 'busy',
    run: (turn) => this.#held(turn),
  }

  open(): void {
    this.#isOpen = true
    for (const go of this.#waiting.splice(0)) go()
  }

  close(): void {
    this.#isOpen = false
    this.scopes = []
  }

  async *#held(turn: Parameters<Agent['run']>[0]) {
    this.scopes.push(turn.workspace.scope)
    if (!this.#isOpen) await new Promise<void>((go) => this.#waiting.push(go))
    yield* busyAgent.run(turn)
  }
}

interface Held extends Serving {
  readonly gate: Gate
}

const servedHeld = async (storage: Storage): Promise<Held> => {
  const gate = new Gate()
  return { ...(await serve({ storage, agent: gate.agent, ...definitions })), gate }
}

class Copy {
  readonly name: string
  readonly #gateway: Held
  readonly #client: Client
  readonly #world = new World()
  readonly #normal = new Normaliser()
  readonly #schema = createSchema()

  constructor(name: string, gateway: Held) {
    this.name = name
    this.#gateway = gateway
    this.#client = new Client(gateway.url)
  }

  async close(): Promise<void> {
    this.#gateway.gate.open()
    this.#client.close()
    await this.#gateway.stop()
  }

  /** What it answers to the request of this number, which is the same everywhere if all answers before it were. */
  async answer(seed: number, index: number): Promise<{ readonly asked: string; readonly text: string }> {
    const draws = drawsFor(seed, index)
    const scope = draws.oneOf(scopes)
    const options = { schema: this.#schema, draws, world: this.#world, scope }
    const isSurvey = index % 8 < 2
    const request = isSurvey
      ? posted(surveyOf(scope), { 'x-tenant': scope.tenantId })
      : draws.chance(0.85)
        ? validRequest(options)
        : invalidRequest(options)
    const asked = this.#normal.text(toJson(shown(request)))
    // What streams is told until it is over, and this is never over.
    if (asked.includes('subscription')) return { asked, text: '' }
    const { status, contentType, text } = await this.#client.send(request)
    await this.#idle(scope)
    if (isSurvey) this.#world.surveyed(scope, JSON.parse(text).data)
    if (contentType.includes('json') && text !== '') this.#learn(JSON.parse(text))
    // A run that was answered goes on, at once or a little later.
    const isRacing = text.includes('AnswerDeferredSuccess')
    return { asked, text: this.#normal.text(isRacing ? asked : `${status} ${contentType} ${text}`) }
  }

  #learn(value: unknown): void {
    if (typeof value !== 'object' || value === null) return
    if (!Array.isArray(value)) this.#world.learn('', Object.fromEntries(Object.entries(value)))
    for (const item of Object.values(value)) this.#learn(item)
  }

  async #idle(scope: Scope): Promise<void> {
    const { gate, storage } = this.#gateway
    gate.open()
    // A turn may be in another workspace than was meant to be asked, and not have come to its agent yet.
    while (!(await isIdle(storage, [scope, ...scopes, ...gate.scopes])))
      await new Promise((resolve) => setTimeout(resolve, 2))
    gate.close()
  }
}

const shown = ({ body, ...request }: HttpRequest) => ({
  ...request,
  operation: undefined,
  body: typeof body === 'string' ? body : body && Buffer.from(body).toString('latin1'),
})
