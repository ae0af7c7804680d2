/** The workspaces of a storage. A workspace needs no creating: one never written to is empty (domain §1). */
import type { Actor } from '../core/actors.js'
import { type Definitions, defaultDefinitions } from '../core/context.js'
import { invalid } from '../core/rejections.js'
import { idProblem } from '../core/text.js'
import type { Storage } from '../storage/port.js'
import { Workspace } from './workspace.js'

export interface WorkspacesOptions {
  readonly definitions?: Definitions | undefined
}

export class Workspaces {
  readonly #storage: Storage
  readonly #definitions: Definitions

  constructor(storage: Storage, { definitions = defaultDefinitions }: WorkspacesOptions = {}) {
    this.#storage = storage
    this.#definitions = definitions
  }

  /**
   * A handle by which `actor` reads and changes a workspace.
   *
   * @throws ValidationFailed when a tenant or workspace id is no id.
   */
  open(tenantId: string, workspaceId: string, { actor }: { actor: Actor }): Workspace {
    check('tenantId', tenantId)
    check('workspaceId', workspaceId)
    return new Workspace(this.#storage, { tenantId, workspaceId }, actor, this.#definitions)
  }
}

const check = (field: string, id: string): void => {
  const problem = idProblem(id)
  if (problem !== null) throw invalid([field], problem)
}
