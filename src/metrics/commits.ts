/** Commands and what becomes of them, and the storage beneath, counted. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { StorageObserver } from '../storage/observer.js'
import type { Storage } from '../storage/port.js'
import type { WorkspaceObserver } from '../workspace/workspace.js'
import { BATCH, SECONDS } from './buckets.js'

export const createWorkspaceMetrics = (registry: Registry): WorkspaceObserver => {
  const registers = [registry]
  const commands = new Counter({
    name: 'artifactr_commands_total',
    help: 'Commands and facts by outcome: accepted, repeated, the code of their refusal, superseded, unavailable or failed.',
    labelNames: ['command', 'outcome'],
    registers,
  })
  const seconds = new Histogram({
    name: 'artifactr_command_duration_seconds',
    help: 'From the arrival of a command or fact at its workspace to its outcome.',
    labelNames: ['command'],
    buckets: SECONDS,
    registers,
  })
  return {
    onCarriedOut: ({ type: command, outcome, seconds: took }) => {
      commands.inc({ command, outcome })
      seconds.observe({ command }, took)
    },
  }
}

export const createStorageMetrics = (registry: Registry): StorageObserver => {
  const registers = [registry]
  const commitSeconds = new Histogram({
    name: 'artifactr_commit_duration_seconds',
    help: 'Rounds of the storage that wrote: load, decide, write.',
    buckets: SECONDS,
    registers,
  })
  const batch = new Histogram({
    name: 'artifactr_commit_batch_size',
    help: 'Transactions that one round wrote.',
    buckets: BATCH,
    registers,
  })
  const retries = new Counter({
    name: 'artifactr_commit_retries_total',
    help: 'Rounds tried again: another process committed first, or the database did not answer.',
    labelNames: ['cause'],
    registers,
  })
  const unavailable = new Counter({
    name: 'artifactr_storage_unavailable_total',
    help: 'Reads and writes given up because the storage is out of reach or too busy.',
    registers,
  })
  return {
    onCommit: ({ transactions, seconds }) => {
      commitSeconds.observe(seconds)
      batch.observe(transactions)
    },
    onRetry: (cause) => retries.inc({ cause }),
    onUnavailable: () => unavailable.inc(),
  }
}

/** Read when they are asked for. A storage without a pool has none. */
export const createPoolMetrics = (registry: Registry, storage: Storage): void => {
  const { connections } = storage
  if (connections === undefined) return
  const now = () => connections.call(storage)
  if (now() === null) return
  const registers = [registry]
  new Gauge({
    name: 'artifactr_database_connections',
    help: 'Connections to the database, by whether they are in use.',
    labelNames: ['state'],
    registers,
    collect() {
      const { total = 0, idle = 0 } = now() ?? {}
      this.set({ state: 'idle' }, idle)
      this.set({ state: 'used' }, total - idle)
    },
  })
  new Gauge({
    name: 'artifactr_database_connections_waiting',
    help: 'Statements that wait for a connection.',
    registers,
    collect() {
      this.set(now()?.waiting ?? 0)
    },
  })
}
