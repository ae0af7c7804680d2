/** Turns, counted. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import { orLate } from '../http/orLate.js'
import type { RunnerObserver } from '../runner/observer.js'
import type { Storage } from '../storage/port.js'
import { TURN_SECONDS } from './buckets.js'

/** How many threads are counted that are owed a turn. */
const MOST_OWED = 1_000

/** How long a scrape waits for the storage, in milliseconds: during an outage it has enough else to tell. */
const OWED_TIMEOUT = 1_000

/** Read when it is asked for; not a number while the storage does not answer. */
export const createOwedMetric = (registry: Registry, storage: Storage): void => {
  const count = async (): Promise<number> => {
    try {
      return (await storage.owedThreads(MOST_OWED)).length
    } catch {
      return Number.NaN
    }
  }
  new Gauge({
    name: 'artifactr_threads_owed',
    help: `Threads that are owed a turn and do not have it yet, in all processes: at most ${MOST_OWED}.`,
    registers: [registry],
    async collect() {
      this.set(await orLate(OWED_TIMEOUT, count(), Number.NaN))
    },
  })
}

export const createRunnerMetrics = (registry: Registry): RunnerObserver => {
  const registers = [registry]
  const started = new Counter({
    name: 'artifactr_turns_started_total',
    help: 'Turns that this process began.',
    registers,
  })
  const ended = new Counter({
    name: 'artifactr_turns_ended_total',
    help: 'Turns that ended: completed, paused, stopped, failed, superseded, or lost to a fault.',
    labelNames: ['status'],
    registers,
  })
  const active = new Gauge({
    name: 'artifactr_turns_active',
    help: 'Turns that are under way in this process.',
    registers,
  })
  const duration = new Histogram({
    name: 'artifactr_turn_duration_seconds',
    help: 'How long turns took.',
    buckets: TURN_SECONDS,
    registers,
  })
  const recovered = new Counter({
    name: 'artifactr_leases_recovered_total',
    help: 'Threads taken over from a holder that did not let them go.',
    registers,
  })
  const abandoned = new Counter({
    name: 'artifactr_runs_abandoned_total',
    help: 'Runs ended because their holder had left them behind.',
    registers,
  })
  return {
    onTurnStarted: () => {
      started.inc()
      active.inc()
    },
    onTurnEnded: (_, { status }, seconds) => {
      active.dec()
      ended.inc({ status })
      duration.observe(seconds)
    },
    onLeaseRecovered: () => recovered.inc(),
    onRunAbandoned: () => abandoned.inc(),
  }
}
