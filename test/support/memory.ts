/** How much memory a gateway uses: what it says that it holds for requests, and what its process has. */
import { execFileSync } from 'node:child_process'
import { until } from './gateway.js'
import { metricsOf, samplesIn } from './metrics.js'

/** The memory of a process that is in use, in megabytes. */
export const memoryOf = (pid: number): number =>
  Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' })) / 1024

export const heldIn = (metrics: string): number =>
  samplesIn(metrics).find(({ name }) => name === 'artifactr_held_bytes')?.value ?? Number.NaN

export const held = async (url: string): Promise<number> => heldIn(await metricsOf(url))

export const heldNothing = (url: string) =>
  until(20_000, 'nothing to be held', async () => (await held(url)) === 0 || null)

export const heldMoreThan = (url: string, bytes: number) =>
  until(20_000, `more than ${bytes} bytes to be held`, async () => (await held(url)) > bytes || null)
