/** Turns under control: agents that do as told, and a storage that can be held, cut off and slowed down, as a process can. */
import type { Actor } from '../../src/core/actors.js'
import type { Agent, Step, Turn } from '../../src/runner/agent.js'
import { Runner, type RunnerOptions } from '../../src/runner/runner.js'
import { type MemoryData, MemoryStorage } from '../../src/storage/memory.js'
import type { Window } from '../../src/storage/port.js'
import type { Workspace } from '../../src/workspace/workspace.js'
import { Workspaces } from '../../src/workspace/workspaces.js'

export const ada: Actor = { kind: 'user', id: 'ada' }
export const all: Window = { limit: 200, from: 'start' }

/** A promise, and the means to fulfil it. */
export const deferred = <Value = void>() => {
  let resolve: (value: Value) => void = () => undefined
  const promise = new Promise<Value>((fulfil) => {
    resolve = fulfil
  })
  return { promise, resolve }
}

export const agent = (run: (turn: Turn) => AsyncIterable<Step>): Agent => ({ run })

/** What a process does to its storage at points a test wants to hold. */
export class HeldStorage extends MemoryStorage {
  /** Runs before the operation, and may hold or fail it. */
  before: Partial<Record<'transaction' | 'acquireLease' | 'releaseLease', () => Promise<void>>> = {}

  override transaction: MemoryStorage['transaction'] = async (scope, work) => {
    await this.before.transaction?.()
    return super.transaction(scope, work)
  }

  override acquireLease: MemoryStorage['acquireLease'] = async (...lease) => {
    await this.before.acquireLease?.()
    return super.acquireLease(...lease)
  }

  override releaseLease: MemoryStorage['releaseLease'] = async (...lease) => {
    await this.before.releaseLease?.()
    return super.releaseLease(...lease)
  }

  /** From now on nothing this process does reaches the data, and nothing answers it: it is dead. */
  die(): void {
    const never = () => new Promise<void>(() => undefined)
    this.before = { transaction: never, acquireLease: never, releaseLease: never }
  }
}

/** A process: a storage on the data, a runner on it, and a workspace with the thread `t1`. */
export const startProcess = (data: MemoryData, agent: Agent, options: Partial<RunnerOptions> = {}) => {
  const storage = new HeldStorage(data)
  const workspaces = new Workspaces(storage)
  const errors: unknown[] = []
  const runner = new Runner({
    workspaces,
    agent,
    recoverEvery: 3_600_000,
    onError: (error) => errors.push(error),
    ...options,
  })
  const workspace = workspaces.open('acme', 'w1', { actor: ada })
  let count = 0
  return {
    storage,
    runner,
    workspace,
    errors,
    say: (content: string, messageId?: string) =>
      runner.send(workspace, {
        type: 'post_message',
        threadId: 't1',
        content,
        messageId: messageId ?? `${content}-${++count}`,
      }),
  }
}

export const createThread = (workspace: Workspace) =>
  workspace.commit({ type: 'create_thread', threadId: 't1' })

export const runs = async (workspace: Workspace) =>
  (await workspace.runs({}, all)).entries.map(({ entity }) => entity)

export const eventTypes = async (workspace: Workspace) =>
  (await workspace.events({}, all)).entries.map(({ event }) => event.type)

export const replies = async (workspace: Workspace) =>
  (await workspace.messages('t1', all)).entries
    .filter(({ actor }) => actor.kind === 'agent')
    .map(({ event }) => event.content)

export const endings = async (workspace: Workspace) =>
  (await workspace.events({ types: ['run_ended'] }, all)).entries.map(({ event }) =>
    event.type === 'run_ended' && 'status' in event
      ? [event.status, event.reason ?? event.error ?? null]
      : [],
  )

/** Replies to what it was asked, and to what steered it. */
export const attentive = (heard: string[]): Agent =>
  agent(async function* ({ prompt, steering }) {
    heard.push(prompt ?? 'answers')
    await new Promise((resolve) => setImmediate(resolve))
    heard.push(...(await steering()))
    yield { type: 'reply', content: `heard ${prompt}` }
  })
