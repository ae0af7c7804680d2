/** The workspaces of a storage. A workspace needs no creating: one never written to is empty (domain §1). */
import type { Actor } from '../core/actors.js'
import { type Definitions, defaultDefinitions } from '../core/context.js'
import { invalid } from '../core/rejections.js'
import { idProblem } from '../core/text.js'
import type { OwedThread, Storage } from '../storage/port.js'
import { RESULT_RETENTION, Sweeper } from './results.js'
import { threadOfLease } from './turns.js'
import { type Host, Workspace, type WorkspaceObserver } from './workspace.js'

export interface WorkspacesOptions {
  readonly definitions?: Definitions | undefined
  /** How long the results of commands with a `commandId` are kept, in milliseconds; seven days when left out. */
  readonly resultRetention?: number | undefined
  readonly observer?: WorkspaceObserver | undefined
}

/** A thread of whichever scope that nobody seems to carry on. */
export interface ForsakenThread extends OwedThread {
  /** Whether somebody held it and did not let it go. */
  readonly isLeftBehind: boolean
}

export class Workspaces {
  readonly definitions: Definitions
  readonly #host: Host

  constructor(
    storage: Storage,
    {
      definitions = defaultDefinitions,
      resultRetention = RESULT_RETENTION,
      observer,
    }: WorkspacesOptions = {},
  ) {
    this.definitions = definitions
    this.#host = { storage, definitions, sweeper: new Sweeper(storage, resultRetention), observer }
  }

  /**
   * A handle by which `actor` reads and changes a workspace.
   *
   * @throws ValidationFailed when a tenant or workspace id is no id.
   */
  open(tenantId: string, workspaceId: string, { actor }: { actor: Actor }): Workspace {
    check('tenantId', tenantId)
    check('workspaceId', workspaceId)
    return new Workspace(this.#host, { tenantId, workspaceId }, actor)
  }

  /** Threads of whichever scope that are owed a turn, and those whose holder died: at most `limit` of each (domain §11, recovery). */
  async forsakenThreads(limit: number): Promise<readonly ForsakenThread[]> {
    const { storage } = this.#host
    const owed = await storage.owedThreads(limit)
    const lapsed = await storage.lapsedLeases(limit)
    const held = lapsed.flatMap(({ scope, key }) => {
      const threadId = threadOfLease(key)
      return threadId === null ? [] : [{ scope, threadId, isLeftBehind: true }]
    })
    return [...owed.map((thread) => ({ ...thread, isLeftBehind: false })), ...held]
  }
}

const check = (field: string, id: string): void => {
  const problem = idProblem(id)
  if (problem !== null) throw invalid([field], problem)
}
