/** A client that hangs up: its message and the turn it asks for both happen, or neither does. */
import { connect } from 'node:net'
import { expect, it } from 'vitest'
import { post, startGateway, until } from '../../support/gateway.js'

const LOG = '{ workspace(workspaceId: "w1") { events { event { type } } } }'

const typesIn = async (url: string): Promise<string[]> => {
  const { body } = await post(url, { query: LOG })
  return body.data.workspace.events.map(({ event }: { event: { type: string } }) => event.type)
}

it('right after sending, or in the middle of it', async () => {
  const { url } = await startGateway({ DATABASE_URL: 'memory:' })
  await post(url, {
    query: 'mutation { createThread(input: { workspaceId: "w1", threadId: "t1" }) { __typename } }',
  })
  const say = (content: string) =>
    JSON.stringify({
      query: `mutation { postMessage(input: { workspaceId: "w1", threadId: "t1", content: "${content}" }) { __typename } }`,
    })
  const { hostname, port } = new URL(url)
  const hangUpAfter = (body: string, part: string) =>
    new Promise<void>((resolve) => {
      const socket = connect(Number(port), hostname, () => {
        const head = `POST /graphql HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n`
        socket.write(head + part, () => socket.destroy())
      })
      socket.once('close', () => resolve())
    })
  const cut = say('never arrives whole')
  await hangUpAfter(cut, cut.slice(0, -5))
  const whole = say('/slow 200')
  await hangUpAfter(whole, whole)
  await until(20_000, 'the turn is over', async () =>
    (await typesIn(url)).includes('run_ended') ? true : null,
  )
  expect(await typesIn(url)).toEqual([
    'thread_created',
    'message_posted',
    'run_started',
    'message_posted',
    'run_ended',
  ])
})
