/**
 * Generates both clients, src/generated/postgresql and src/generated/sqlite. Runs on every `npm ci`: it reaches no
 * network, and says nothing unless it fails.
 */
import { execFile } from 'node:child_process'
import { createRequire } from 'node:module'
import path from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'

const root = fileURLToPath(new URL('..', import.meta.url))
const prisma = path.join(
  path.dirname(createRequire(import.meta.url).resolve('prisma/package.json')),
  'build/index.js',
)

function generate(url) {
  return promisify(execFile)(process.execPath, [prisma, 'generate', '--config', 'prisma/config.ts'], {
    cwd: root,
    env: {
      ...process.env,
      DATABASE_URL: url,
      // `generate` does not use the schema engine, but downloads it unless told where one is.
      PRISMA_SCHEMA_ENGINE_BINARY: process.execPath,
      CHECKPOINT_DISABLE: '1',
      PRISMA_HIDE_UPDATE_MESSAGE: '1',
    },
  })
}

const runs = await Promise.allSettled([generate('postgresql://localhost/unused'), generate('file:unused.db')])
for (const { reason } of runs.filter((run) => run.status === 'rejected')) {
  console.error(`${reason.stdout ?? ''}${reason.stderr ?? ''}`.trim() || reason.message)
  process.exitCode = 1
}
