/** Another process that posts a lot to the thread `t1` of workspace w1 of the tenant `dev`, from the build. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const worker = fileURLToPath(new URL('./floodWorker.mjs', import.meta.url))

export interface Flood {
  readonly messages: number
  /** In UTF-16 units. */
  readonly length: number
  readonly atOnce: number
}

/** Has the database open when this resolves. Posts when it is told to, and resolves when all is posted. */
export const openFlood = async (
  url: string,
  { messages, length, atOnce }: Flood,
): Promise<() => Promise<void>> => {
  const child = spawn(process.execPath, [worker, url, String(messages), String(length), String(atOnce)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  onTestFinished(() => void child.kill('SIGKILL'))
  await once(child.stdout, 'data')
  return async () => {
    child.stdin.write('go\n')
    const [code] = await once(child, 'close')
    if (code !== 0) throw new Error(`the flood ended with ${code}`)
  }
}
