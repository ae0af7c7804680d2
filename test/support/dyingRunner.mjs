/** A process that sends one message and kills itself at a point on the way to the end of its turn. */
import { openPrismaStorage, Workspaces } from '../../dist/index.js'
import { Runner } from '../../dist/runner/runner.js'

const [url, point] = process.argv.slice(2)

/** As `kill -9` does it: nothing is tidied up. What must not happen after it never does. */
const die = () => {
  process.kill(process.pid, 'SIGKILL')
  return new Promise(() => undefined)
}

const storage = await openPrismaStorage({ url })
const { acquireLease, transaction } = storage
let replied = false

storage.acquireLease = async (...lease) => {
  if (point === 'after the commit of the message') return die()
  const taken = await acquireLease.apply(storage, lease)
  if (point === 'after the lease') return die()
  return taken
}
storage.transaction = async (...work) => {
  if (replied && point === 'before run_ended') return die()
  return transaction.apply(storage, work)
}

const agent = {
  async *run() {
    if (point === 'after run_started') await die()
    yield { type: 'part_started', part: 0, kind: 'text' }
    yield { type: 'text_delta', part: 0, delta: 'half a' }
    if (point === 'during live output') await die()
    yield { type: 'reply', content: 'half a reply' }
    replied = true
  },
}

const workspaces = new Workspaces(storage)
const runner = new Runner({ workspaces, agent })
const workspace = workspaces.open('acme', 'w1', { actor: { kind: 'user', id: 'ada' } })
await workspace.commit({ type: 'create_thread', threadId: 't1' })
await runner.send(workspace, { type: 'post_message', threadId: 't1', messageId: 'm1', content: 'hello' })
await runner.drain()
process.exit(0)
