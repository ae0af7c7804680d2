/** Turns, counted. */
import { Counter, Gauge, Histogram, type Registry } from 'prom-client'
import type { RunnerObserver } from '../runner/observer.js'
import { TURN_SECONDS } from './buckets.js'

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
