/** Another process that migrates, from the build, as `npm start` would. */
import { execFile } from 'node:child_process'
import { existsSync } from 'node:fs'
import { fileURLToPath } from 'node:url'

const built = new URL('../../dist/storage/prisma/migrate.js', import.meta.url)
const program = `
  const { migrate } = await import(process.argv[1])
  console.log(JSON.stringify(await migrate(process.argv[2])))`

interface End {
  /** The names of the migrations it applied, as JSON. */
  stdout: string
  stderr: string
  signal: NodeJS.Signals | null
}

export function startMigrating(url: string): { kill(): void; end: Promise<End> } {
  if (!existsSync(fileURLToPath(built))) throw new Error('this test runs the build: npm run build')
  let kill = () => {}
  const end = new Promise<End>((resolve) => {
    const child = execFile(
      process.execPath,
      ['--input-type=module', '-e', program, built.href, url],
      (error, stdout, stderr) => resolve({ stdout, stderr, signal: error?.signal ?? null }),
    )
    kill = () => child.kill('SIGKILL')
  })
  return { kill: () => kill(), end }
}
