/** The migrations over a log with history: what was posted before there were columns and ids to look it up by. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { describe, expect, test, vi } from 'vitest'
import { migrate } from '../../src/storage/prisma/migrate.js'
import { emptyDatabases } from '../support/databases.js'
import { type LoggedEvent, logEvents, longLog, messageIds } from '../support/log.js'
import { startMigrating } from '../support/migrateProcess.js'
import { describePostgres } from '../support/postgres.js'
import { query, withSql } from '../support/sql.js'

for (const [provider, emptyDatabase] of Object.entries(emptyDatabases))
  (provider === 'sqlite' ? describe : describePostgres)(`on ${provider}`, () => {
    test('every message id in a log of 300,000 events is used, once per workspace it was posted in', async () => {
      const url = await emptyDatabase()
      await migrate(url, { upTo: '0001_initial' })
      await query(url, longLog.insert)
      expect(await migrate(url, { upTo: '0002_event_scopes' })).toEqual(['0002_event_scopes'])
      expect(await query(url, longLog.count)).toEqual([{ events: longLog.events, wrongly_scoped: 0 }])
      expect(await migrate(url, { upTo: '0003_message_ids' })).toEqual(['0003_message_ids'])
      expect(await query(url, longLog.usedIds)).toEqual(longLog.expectedIds)
      expect(await query(url, longLog.strayIds)).toEqual([])
    }, 120_000)

    test('events whose text the rules now refuse, or that lack what they should have, are carried over', async () => {
      const url = await emptyDatabase()
      await migrate(url, { upTo: '0001_initial' })
      await logEvents(url, oddEvents)
      await migrate(url)
      const scopes = await query(url, 'SELECT type, thread_id, run_id FROM artifactr_events ORDER BY seq')
      expect(scopes).toEqual(
        oddEvents.map(({ type = '', thread = null, run = null }) => ({
          type,
          thread_id: thread,
          run_id: run,
        })),
      )
      const kept = oddEvents.flatMap(({ used }) => used ?? [])
      const ids = await messageIds(url)
      expect(ids).toEqual(expect.arrayContaining(kept))
      if (provider === 'postgresql') expect(ids).toHaveLength(kept.length)
    })
  })

describe('on sqlite', () => {
  test('a process killed in the middle leaves a file that the next one migrates', async () => {
    const url = await emptyDatabases.sqlite()
    await migrate(url, { upTo: '0001_initial' })
    await query(url, longLog.insert)
    await withSql(url, async (sql) => {
      // Whoever reads keeps the other from coming to its end.
      await sql('BEGIN')
      await sql('SELECT seq FROM artifactr_events LIMIT 1')
      const { kill, end } = startMigrating(url)
      await vi.waitFor(() => expect(existsSync(`${url.slice(5)}-journal`)).toBe(true), {
        timeout: 60_000,
        interval: 1,
      })
      kill()
      expect(await end).toMatchObject({ signal: 'SIGKILL' })
      await sql('COMMIT')
    })
    expect((await migrate(url)).slice(0, 2)).toEqual(['0002_event_scopes', '0003_message_ids'])
    expect(await query(url, longLog.usedIds)).toEqual(longLog.expectedIds)
  }, 120_000)
})

describePostgres('on postgresql', () => {
  test('a process killed in the middle leaves a database that the next one migrates', async () => {
    const url = await emptyDatabases.postgresql()
    await migrate(url, { upTo: '0002_event_scopes' })
    await withSql(url, async (sql) => {
      await sql('BEGIN')
      await sql('LOCK TABLE artifactr_events IN ACCESS EXCLUSIVE MODE')
      const { kill, end } = startMigrating(url)
      const waiting = `SELECT count(*)::int AS waiting FROM pg_locks JOIN pg_class ON pg_class.oid = relation
        WHERE relname = 'artifactr_events' AND NOT granted`
      await vi.waitFor(async () => expect(await sql(waiting)).toEqual([{ waiting: 1 }]), { timeout: 60_000 })
      kill()
      expect(await end).toMatchObject({ signal: 'SIGKILL' })
      await sql('ROLLBACK')
    })
    expect(await migrate(url, { upTo: '0003_message_ids' })).toEqual(['0003_message_ids'])
  }, 120_000)
})

const posted = { type: 'message_posted', thread: 't' }
const oddEvents: LoggedEvent[] = [
  {
    ...posted,
    run: 'r\\u0000',
    envelope: String.raw`{"thread_id":"t","run_id":"r\\u0000","event":{"type":"message_posted","message_id":"m1","content":"\u0000 \ud800 \udc00"}}`,
    used: 'm1',
  },
  { ...posted, messageId: String.raw`pair\ud83d\ude00`, content: String.raw`\ude00\ud83d`, used: 'pair😀' },
  {
    ...posted,
    messageId: String.raw`\\ud800\\`,
    content: String.raw`\u0000`,
    used: String.raw`\ud800\ `.trim(),
  },
  {
    ...posted,
    messageId: String.raw`\\\\u0000\"\u0041`,
    content: String.raw`\ud83d\ud83d\ude00`,
    used: String.raw`\\u0000"A`,
  },
  { ...posted, messageId: 'é', content: 'raw 😀', used: 'é' },
  { ...posted, messageId: String.raw`nul\u0000` },
  { ...posted, messageId: String.raw`nul\\\u0000` },
  { ...posted, messageId: String.raw`high\ud800` },
  { ...posted, messageId: String.raw`\uDC00low` },
  { ...posted, messageId: String.raw`two highs\ud83d\ud83d\ude00` },
  { ...posted, messageId: String.raw`two lows\ud83d\ude00\ude00` },
  { ...posted, messageId: 'x'.repeat(255), used: 'x'.repeat(255) },
  { ...posted, messageId: randomBytes(1_500).toString('hex') },
  { ...posted, envelope: '{"thread_id":"t","event":{"type":"message_posted"}}' },
  { thread: 't', envelope: '{"thread_id":"t","event":{}}' },
  { envelope: '{}' },
]
