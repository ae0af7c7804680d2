/** Other processes that post to the same database, from the build. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { onTestFinished } from 'vitest'

const built = fileURLToPath(new URL('../../dist/storage/prisma/open.js', import.meta.url))
const worker = fileURLToPath(new URL('./worker.mjs', import.meta.url))

export interface Poster {
  /** Lets it begin. */
  start(): void
  /** What it said so far: ids and what came of them. */
  readonly said: (readonly [id: string, outcome: string])[]
  /** `kill -9`. */
  kill(): void
  /** Ends when it has ended and all it said was read. */
  readonly ended: Promise<void>
}

/** A process that has the database open and will post these ids, some at once, once it is started. */
export const startPoster = async (
  url: string,
  messageIds: readonly string[],
  atOnce: number,
): Promise<Poster> => {
  if (!existsSync(built)) throw new Error('this test runs the build: npm run build')
  const child = spawn(process.execPath, [worker, url, String(atOnce)], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.on('error', () => undefined)
  const kill = () => void child.kill('SIGKILL')
  onTestFinished(kill)
  const said: (readonly [string, string])[] = []
  const ended = new Promise<void>((resolve) => child.once('close', () => resolve()))
  const ready = new Promise<void>((resolve) => {
    createInterface({ input: child.stdout }).on('line', (line) => {
      if (line === 'ready') resolve()
      else said.push(JSON.parse(line))
    })
  })
  await Promise.race([ready, ended.then(() => Promise.reject(new Error('the process ended early')))])
  return { start: () => child.stdin.write(`${JSON.stringify(messageIds)}\n`), said, kill, ended }
}
