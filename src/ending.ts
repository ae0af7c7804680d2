/**
 * How the process ends: told to by a signal, or because of an error that nobody caught, after which nobody knows what still works. Either way
 * it finishes what it has begun, in order, and ends once.
 */
import type { Logger } from 'pino'

/** Finishes what is under way. Whether it was in time. */
export type Drain = () => Promise<boolean>

export interface Ending {
  /** From now on this is what comes before the end. */
  after(drain: Drain): void
}

type Signal = 'SIGTERM' | 'SIGINT'

/** The exit code of a process that a signal ended. */
const exitCodes = { SIGTERM: 143, SIGINT: 130 } satisfies Record<Signal, number>

export const prepareEnding = (log: Logger): Ending => {
  let drain: Drain = async () => true
  let isEnding = false
  let hasFailed = false
  const end = async (): Promise<void> => {
    isEnding = true
    try {
      if (await drain()) log.info('stopped')
      else {
        hasFailed = true
        log.warn('stopped, with something under way that did not finish in time')
      }
    } catch (err) {
      hasFailed = true
      log.error({ err }, 'could not stop in order')
    } finally {
      process.exit(hasFailed ? 1 : 0)
    }
  }
  const onSignal = (signal: Signal): void => {
    if (isEnding) process.exit(exitCodes[signal])
    log.info({ signal }, 'stopping')
    void end()
  }
  const onUncaught = (err: unknown): void => {
    hasFailed = true
    log.fatal({ err: err ?? String(err) }, 'an error that nobody caught: the process ends')
    if (!isEnding) void end()
  }
  process.on('SIGTERM', () => onSignal('SIGTERM'))
  process.on('SIGINT', () => onSignal('SIGINT'))
  process.on('uncaughtException', onUncaught)
  process.on('unhandledRejection', onUncaught)
  return {
    after: (next) => {
      drain = next
    },
  }
}
