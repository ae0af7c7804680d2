/**
 * The metrics of one gateway, in Prometheus' text format. Labels are from closed sets, and none is an id: of tenants, workspaces, threads,
 * messages or people.
 */
import { collectDefaultMetrics, Registry } from 'prom-client'
import type { HttpObserver } from '../http/observer.js'
import type { RunnerObserver } from '../runner/observer.js'
import type { StorageObserver } from '../storage/observer.js'
import type { Storage } from '../storage/port.js'
import type { WorkspaceObserver } from '../workspace/workspace.js'
import { createPoolMetrics, createStorageMetrics, createWorkspaceMetrics } from './commits.js'
import { createHttpMetrics } from './http.js'
import { createOwedMetric, createRunnerMetrics } from './turns.js'

export interface Metrics {
  readonly http: HttpObserver
  readonly workspace: WorkspaceObserver
  readonly runner: RunnerObserver
  readonly storage: StorageObserver
  text(): Promise<string>
}

export const createMetrics = (storage: Storage): Metrics => {
  const registry = new Registry()
  const ofProcess = processRegistry()
  createPoolMetrics(registry, storage)
  createOwedMetric(registry, storage)
  return {
    http: createHttpMetrics(registry),
    workspace: createWorkspaceMetrics(registry),
    runner: createRunnerMetrics(registry),
    storage: createStorageMetrics(registry),
    text: () => Registry.merge([registry, ofProcess]).metrics(),
  }
}

let known: Registry | undefined

/** Memory, processor time and the event loop belong to the process, however many gateways it has. Measured from the first one on. */
const processRegistry = (): Registry => {
  if (known !== undefined) return known
  known = new Registry()
  collectDefaultMetrics({ register: known })
  return known
}
