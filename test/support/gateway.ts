/** The real gateway, as `npm start` runs it: another process, given only the environment a test gives it. */
import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { onTestFinished, TestRunner } from 'vitest'

const main = fileURLToPath(new URL('../../dist/main.js', import.meta.url))

export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

export interface GatewayProcess {
  readonly pid: number
  /** Resolves when the process is gone. */
  readonly exit: Promise<Exit>
  /** What it has written so far. */
  output(): string
  errors(): string
  /** The lines of its log so far. */
  log(): LogLine[]
  /** Closes the other end of its output, as a reader does that dies. */
  abandonOutput(): void
  /** Sends a signal, and waits for nothing. */
  signal(signal: NodeJS.Signals): void
  /** Sends a signal, and waits for the end. */
  kill(signal?: NodeJS.Signals): Promise<Exit>
}

export interface RunningGateway extends GatewayProcess {
  /** Such as `http://127.0.0.1:40123`. */
  readonly url: string
}

export interface LogLine {
  readonly [field: string]: unknown
  readonly msg: string
}

/** How long a gateway may take to start, in milliseconds. */
const START_TIMEOUT = 60_000

const running = new Set<ChildProcess>()
process.once('exit', () => {
  for (const child of running) child.kill('SIGKILL')
})

/**
 * Starts the process, and waits for nothing. It listens on a free port and keeps everything in memory unless told otherwise. Started by a
 * test, it is gone when the test is over, unless the caller ends it; started by a hook, it is the hook's to end.
 */
export const spawnGateway = (
  env: Record<string, string> = {},
  owner: 'test' | 'caller' = 'test',
): GatewayProcess => {
  if (!existsSync(main)) throw new Error('the gateway is not built: run "npm run build"')
  const child = spawn(process.execPath, [main], {
    env: { PATH: process.env['PATH'], PORT: '0', DATABASE_URL: 'memory:', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  running.add(child)
  const written = { stdout: '', stderr: '' }
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    written.stdout += text
  })
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    written.stderr += text
  })
  const exit = new Promise<Exit>((resolve) => {
    child.once('close', (code, signal) => {
      running.delete(child)
      resolve({ code, signal })
    })
  })
  const kill = (signal: NodeJS.Signals = 'SIGKILL') => {
    child.kill(signal)
    return exit
  }
  if (owner === 'test' && TestRunner.getCurrentTest() !== undefined)
    onTestFinished(async () => void (await kill()))
  return {
    pid: child.pid ?? -1,
    exit,
    output: () => written.stdout,
    errors: () => written.stderr,
    log: () => logLines(written.stdout),
    abandonOutput: () => {
      child.stdout.destroy()
      child.stderr.destroy()
    },
    signal: (signal) => void child.kill(signal),
    kill,
  }
}

/** Starts the process and waits until it is ready. */
export const startGateway = async (
  env: Record<string, string> = {},
  owner: 'test' | 'caller' = 'test',
): Promise<RunningGateway> => {
  const gateway = spawnGateway(env, owner)
  let gone = false
  gateway.exit.then(() => {
    gone = true
  })
  const url = await until(START_TIMEOUT, 'the gateway to be ready', async () => {
    if (gone) throw new Error(`the gateway did not start: ${gateway.errors()}${gateway.output()}`)
    const told = gateway.log().find((line) => typeof line['url'] === 'string')?.['url']
    const address = told ?? (env['PORT'] === undefined ? null : `http://127.0.0.1:${env['PORT']}`)
    return typeof address === 'string' && (await isReady(address)) ? address : null
  })
  return { ...gateway, url }
}

/** Asks until there is an answer that is not null, for a bounded time in milliseconds, and once more when that is over. */
export const until = async <Answer>(
  timeout: number,
  what: string,
  ask: () => Promise<Answer | null> | Answer | null,
): Promise<Answer> => {
  const deadline = performance.now() + timeout
  for (;;) {
    const isOver = performance.now() >= deadline
    const answer = await ask()
    if (answer !== null) return answer
    if (isOver) throw new Error(`waited ${timeout} ms in vain for ${what}`)
    await new Promise((resolve) => setTimeout(resolve, 20))
  }
}

const isReady = async (url: string): Promise<boolean> => {
  const response = await fetch(`${url}/ready`).catch(() => null)
  await response?.arrayBuffer()
  return response?.status === 200
}

const logLines = (output: string): LogLine[] =>
  output
    .split('\n')
    .filter((line) => line.startsWith('{') && line.endsWith('}'))
    .map((line) => JSON.parse(line))

/** The answer to an operation: status, headers, and what was made of the body. */
export interface Answer {
  readonly status: number
  readonly headers: Headers
  // biome-ignore lint/suspicious/noExplicitAny: tests look into results of many shapes
  readonly body: any
}

/** What the log says of a request, which may come after its answer. */
export const linesOf = (gateway: GatewayProcess, requestId: string): Promise<LogLine[]> =>
  until(20_000, `a line about ${requestId}`, () => {
    const lines = gateway.log().filter((line) => line['requestId'] === requestId)
    return lines.length > 0 ? lines : null
  })

/** Posts a GraphQL request. A body that is no string is sent as JSON. */
export const post = async (
  url: string,
  body: string | Uint8Array<ArrayBuffer> | object,
  headers: Record<string, string> = {},
): Promise<Answer> => {
  const raw = typeof body === 'string' || body instanceof Uint8Array
  const response = await fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: raw ? body : JSON.stringify(body),
  })
  return answerOf(response)
}

export const answerOf = async (response: Response): Promise<Answer> => {
  const text = await response.text()
  const isJson = response.headers.get('content-type')?.includes('json') === true
  return { status: response.status, headers: response.headers, body: isJson ? JSON.parse(text) : text }
}
