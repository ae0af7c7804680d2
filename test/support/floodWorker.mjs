/**
 * A process of its own that posts a lot, from the build: `node floodWorker.mjs <url> <messages> <length> <how many at once>`. It says `ready`,
 * begins when its standard input says anything, and ends when all is posted.
 */
import { openPrismaStorage } from '../../dist/storage/prisma/open.js'
import { Workspaces } from '../../dist/workspace/workspaces.js'

const [url, messages, length, atOnce] = process.argv.slice(2)
const storage = await openPrismaStorage({ url })
const workspace = new Workspaces(storage).open('dev', 'w1', { actor: { kind: 'user', id: 'ada' } })
await workspace.head()
process.stdout.write('ready\n')
await new Promise((resolve) => process.stdin.once('data', resolve))

const content = 'x'.repeat(Number(length))
let left = Number(messages)
const post = async () => {
  while (left-- > 0) await workspace.commit({ type: 'post_message', threadId: 't1', content })
}
await Promise.all(Array.from({ length: Number(atOnce) }, post))
await storage.close()
process.exit()
