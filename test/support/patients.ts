/** Gateways under load to which faults are done, one after the other, and what is seen of each. */
import { readFileSync } from 'node:fs'
import { freePort } from './embeddedPostgres.js'
import { type GatewayProcess, startGateway, until } from './gateway.js'
import { type Load, type LoadOptions, SAID, type Seen, startLoad } from './load.js'
import { expectWhole } from './whole.js'

export interface Patient {
  readonly load: Load
  /** The process as it is now. */
  readonly gateway: GatewayProcess
  /** Starts another process in the place of one that has ended. */
  restart(): Promise<void>
}

export interface Fault {
  /** Does it, lasts it, and undoes it. */
  readonly strike: (patient: Patient) => Promise<void>
  /** What is expected of what was seen, besides that everything is whole in the end. */
  readonly expected: (observed: Observed) => void
}

export interface Observed extends Seen {
  /** How long it lasted, and how long until clients' posts were acknowledged again, in milliseconds. */
  readonly lasted: number
  readonly recovered: number
}

export interface Ward {
  /** Resolves when a fault is over and was seen as it is to be. */
  sees(name: string): Promise<void>
  /** Resolves when everything has been found whole after the last fault. */
  readonly whole: Promise<void>
  /** Ends the process. */
  end(): Promise<void>
}

interface Admission {
  readonly env: Record<string, string>
  /** Where turns that are owed can be looked up. */
  readonly database: string | null
  readonly faults: Readonly<Record<string, Fault>>
  readonly load?: Omit<LoadOptions, 'url'>
}

/** How many posts are waited for before and after a fault. */
const SOME = 12

const isReported = process.env['FAULT_REPORT'] === '1'

/** Starts a gateway and does everything to it that there is. What goes wrong is told by what is asked for. */
export const admit = ({ env, database, faults, load: options }: Admission): Ward => {
  const processes: GatewayProcess[] = []
  const seen = new Map<string, Pending>()
  for (const name of Object.keys(faults)) seen.set(name, pending())

  const carryOut = async (): Promise<void> => {
    const port = String(await freePort())
    const url = `http://127.0.0.1:${port}`
    const start = async () => void processes.push(await startGateway({ ...env, PORT: port }, 'caller'))
    await start()
    const load = await startLoad({ url: () => url, ...options })
    const patient: Patient = {
      load,
      get gateway() {
        const [last] = processes.slice(-1)
        if (last === undefined) throw new Error('there is no process')
        return last
      },
      restart: start,
    }
    const posts = async () => {
      const before = load.part.posted
      await until(60_000, 'posts', () => load.part.posted >= before + SOME || null)
    }
    await posts()
    for (const [name, { strike }] of Object.entries(faults)) {
      load.endPart()
      const began = performance.now()
      await strike(patient)
      const over = performance.now()
      await posts()
      await until(60_000, 'it to be ready', () => load.part.ready.at(-1) === 200 || null)
      const lasted = Math.round(over - began)
      const observed = { lasted, recovered: Math.round(performance.now() - over), ...load.endPart() }
      if (isReported) console.info(name, { ...observed, memory: memoryOf(patient.gateway.pid) })
      seen.get(name)?.resolve(observed)
    }
    await expectWhole(url, load, database)
    const unforeseen = processes.flatMap((one) => one.log().filter(({ msg }) => msg === 'unforeseen error'))
    if (unforeseen.length > 0) throw new Error(JSON.stringify(unforeseen))
    const told = processes.flatMap((one) => one.output().split('\n')).find((line) => line.includes(SAID))
    if (told !== undefined) throw new Error(`what was said is in the log: ${told}`)
  }

  const whole = carryOut().catch((error: unknown) => {
    if (isReported)
      console.info(
        String(error),
        processes.map((one) => one.output().slice(-6000)),
      )
    for (const { reject } of seen.values()) reject(error)
    throw error
  })
  whole.catch(() => undefined)
  return {
    whole,
    sees: async (name) => {
      const observed = await seen.get(name)?.promise
      if (observed === undefined) throw new Error(`nobody does ${name}`)
      faults[name]?.expected(observed)
    },
    end: async () => {
      for (const one of processes) await one.kill()
    },
  }
}

interface Pending {
  readonly promise: Promise<Observed>
  readonly resolve: (observed: Observed) => void
  readonly reject: (error: unknown) => void
}

const pending = (): Pending => {
  let resolve: Pending['resolve'] = () => undefined
  let reject: Pending['reject'] = () => undefined
  const promise = new Promise<Observed>((fulfil, fail) => {
    resolve = fulfil
    reject = fail
  })
  promise.catch(() => undefined)
  return { promise, resolve, reject }
}

/** The most memory a process has had, where that can be found out. */
const memoryOf = (pid: number): string => {
  try {
    return /VmHWM:\s*(.*)/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 'unknown'
  } catch {
    return 'unknown'
  }
}
