import { isEmpty, mergeStates, missing, type Needs, noNeeds, type State } from '../../core/state.js'
import { type CommandKey, commandKey, type Expected, type Scope, type TurnPositions } from '../port.js'
import type { Dialect } from './dialect.js'
import { readSnapshot, type Snapshot } from './reads.js'

/** Loads for one round what `expected` did not name, as long as the workspace is what it was. */
export class Reader {
  isStale = false
  failure: Error | null = null
  readonly #dialect: Dialect
  readonly #scope: Scope
  readonly #token: string | null
  #state: State
  /** By `commandKey`; `null` for what was looked up and is not there. */
  readonly #commands: Map<string, string | null>
  readonly #turns: Map<string, TurnPositions>

  constructor(dialect: Dialect, scope: Scope, { token, state, commands, turns }: Snapshot) {
    this.#dialect = dialect
    this.#scope = scope
    this.#token = token
    this.#state = state
    this.#commands = new Map(commands)
    this.#turns = new Map(turns)
  }

  async load(needs: Needs): Promise<State> {
    const wanted = missing(needs, this.#state)
    if (isEmpty(wanted)) return this.#state
    const { state } = await this.#read(wanted)
    this.#state = mergeStates(this.#state, state)
    return this.#state
  }

  async recall(key: CommandKey): Promise<string | null> {
    const known = this.#commands.get(commandKey(key))
    if (known !== undefined) return known
    const { commands } = await this.#read({ ...noNeeds, commands: [key] })
    for (const [key, result] of commands) this.#commands.set(key, result)
    return commands.get(commandKey(key)) ?? null
  }

  async turnPositions(threadId: string): Promise<TurnPositions> {
    const known = this.#turns.get(threadId)
    if (known !== undefined) return known
    const { turns } = await this.#read({ ...noNeeds, turns: [threadId] })
    const positions = turns.get(threadId) ?? { asked: 0, taken: 0 }
    this.#turns.set(threadId, positions)
    return positions
  }

  async #read(wanted: Expected): Promise<Snapshot> {
    const snapshot = await readSnapshot(this.#dialect, this.#scope, wanted).catch((error) => {
      this.failure = error
      throw error
    })
    this.isStale = snapshot.token !== this.#token
    if (this.isStale) throw new Error('the workspace changed; this round starts over')
    return snapshot
  }
}
