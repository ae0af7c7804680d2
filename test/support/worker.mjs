/**
 * A process of its own that posts, from the build: `node worker.mjs <url> <how many at once>`. It says `ready`, takes its
 * message ids from the first line of its standard input, as JSON, and then prints each id with what came of it, the moment it is told.
 */
import { writeSync } from 'node:fs'
import { createInterface } from 'node:readline'
import { openPrismaStorage } from '../../dist/storage/prisma/open.js'
import { Workspaces } from '../../dist/workspace/workspaces.js'

const [url, atOnce] = process.argv.slice(2)
const say = (line) => writeSync(1, `${line}\n`)

const storage = await openPrismaStorage({ url })
const workspace = new Workspaces(storage).open('acme', 'w1', { actor: { kind: 'user', id: 'ada' } })
await workspace.head()
say('ready')
const line = await new Promise((resolve) => createInterface({ input: process.stdin }).once('line', resolve))
const messageIds = JSON.parse(line).values()

const post = async () => {
  for (const id of messageIds) {
    const outcome = await workspace
      .commit({ type: 'post_message', threadId: 't1', messageId: id, content: 'hello' })
      .then(
        () => 'posted',
        ({ reason, name, message }) =>
          reason === 'already_exists' ? 'already exists' : `${name}: ${message}`,
      )
    say(JSON.stringify([id, outcome]))
  }
}
await Promise.all(Array.from({ length: Number(atOnce) }, post))
await storage.close()
process.exit()
