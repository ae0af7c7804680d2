/** Streams of a gateway whose database goes away and comes back. */
import { expect, it, onTestFinished } from 'vitest'
import { openEventStream } from '../../support/eventStreams.js'
import { startGateway } from '../../support/gateway.js'
import { describePostgres, migratedDatabase } from '../../support/postgres.js'
import { createThread, postMessage, upTo } from '../../support/posts.js'
import { openProxy } from '../../support/proxy.js'
import { openSocket } from '../../support/sockets.js'

describePostgres('the streams of a gateway', () => {
  it('stay when all its connections to the database are cut, and catch up without another post', async () => {
    const database = await migratedDatabase()
    const proxy = await openProxy(database)
    const other = await startGateway({ DATABASE_URL: database, AGENT: 'none' })
    const gateway = await startGateway({ DATABASE_URL: proxy.url, AGENT: 'none' })
    await createThread(other.url)
    const stream = await openEventStream(gateway.url)
    onTestFinished(() => stream.drop())
    const socket = await openSocket(gateway.url)
    await socket.init()
    socket.subscribe('a')
    // One that has not begun when its database is lost ends, and is to come back.
    await stream.comeTo(1)
    await socket.come('the same', () => socket.seqs('a').at(-1) === 1)
    for (let round = 0; round < 3; round++) {
      await postMessage(other.url)
      proxy.cut()
      const seq = await postMessage(other.url)
      await stream.comeTo(seq)
      await socket.come('the same', () => socket.seqs('a').at(-1) === seq)
    }
    expect(stream.seqs).toEqual(upTo(7))
    expect(socket.seqs('a')).toEqual(upTo(7))
  })

  it('pass over a stored event that is broken, and say so once', async () => {
    const database = await migratedDatabase()
    const gateway = await startGateway({ DATABASE_URL: database, AGENT: 'none' })
    await createThread(gateway.url)
    for (let n = 0; n < 3; n++) await postMessage(gateway.url)
    const { query } = await import('../../support/sql.js')
    await query(database, "UPDATE artifactr_events SET envelope = '{\"broken' WHERE seq = 2")
    await query(
      database,
      `UPDATE artifactr_events SET envelope = replace(envelope, '"message_posted"', '"from_the_future"') WHERE seq = 3`,
    )
    for (let n = 0; n < 2; n++) {
      const stream = await openEventStream(gateway.url)
      await stream.comeTo(4)
      expect(stream.sent.slice(0, 4).map(({ data }) => data.data.events.event.type)).toEqual([
        'thread_created',
        'unreadable',
        'from_the_future',
        'message_posted',
      ])
      stream.drop()
    }
    await gateway.kill('SIGTERM')
    const reports = gateway.log().filter(({ msg }) => msg === 'a stored event cannot be read')
    expect(reports).toMatchObject([{ tenantId: 'dev', workspaceId: 'w1', seq: 2, level: 50 }])
  })
})
