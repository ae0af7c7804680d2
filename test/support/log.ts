/** Logs as earlier versions left them, written straight into the events table of `0001_initial`. The SQL is both databases'. */
import { query } from './sql.js'

export interface LoggedEvent {
  /** JSON text, or its parts below. Strings are what stands between the quotes, escapes and all. */
  envelope?: string
  type?: string
  thread?: string
  run?: string
  messageId?: string
  content?: string
  /** The message id that is used ever after. */
  used?: string
}

/** Writes events to one workspace, in order. */
export async function logEvents(url: string, events: LoggedEvent[]): Promise<void> {
  const rows = events.map((event, i) => {
    const { thread = 't', messageId = 'm', content = '' } = event
    const text =
      event.envelope ??
      `{"seq":${i},"thread_id":"${thread}","event":{"type":"${event.type}","message_id":"${messageId}","content":"${content}"}}`
    return `('tenant', 'workspace', ${i}, 'evt_${i}', '${text}')`
  })
  await query(
    url,
    `INSERT INTO artifactr_events (tenant_id, workspace_id, seq, id, envelope) VALUES ${rows.join(', ')}`,
  )
}

export async function messageIds(url: string): Promise<unknown[]> {
  return (await query(url, 'SELECT id FROM artifactr_messages')).map(({ id }) => id)
}

const tenants = ['t0', 't1', 't2']
const workspaces = ['w0', 'w1', 'w2', 'w3']
const perWorkspace = 25_000
const numbers = `WITH RECURSIVE numbers (s) AS (SELECT 1 UNION ALL SELECT s + 1 FROM numbers WHERE s < ${perWorkspace})`
const scopes = tenants
  .flatMap((t) => workspaces.map((w) => `SELECT '${t}' AS tenant, '${w}' AS workspace`))
  .join(' UNION ALL ')

/**
 * 300,000 events in twelve workspaces of three tenants. Four in five post a message; the ids start over at 20,000, so 4,000 of them
 * are used twice in their workspace, and every id is used in every workspace.
 */
export const longLog = {
  events: tenants.length * workspaces.length * perWorkspace,

  insert: `${numbers}
    INSERT INTO artifactr_events (tenant_id, workspace_id, seq, id, envelope)
    SELECT tenant, workspace, s, 'evt_' || s,
      '{"seq":' || s || ',"id":"evt_' || s || '","ts":"2026-01-01T00:00:00.000Z","workspace_id":"' || workspace
      || '","thread_id":"t' || (s % 100) || '"' || CASE WHEN s % 3 = 0 THEN ',"run_id":"r' || s || '"' ELSE '' END
      || ',"actor":{"kind":"user","id":"u"},"event":{"type":"' || CASE WHEN s % 5 = 0 THEN 'thread_created"'
        ELSE 'message_posted","message_id":"m' || (s % 20000) || '","content":"What was said","kind":"message"' END
      || '}}'
    FROM numbers CROSS JOIN (${scopes}) AS scopes`,

  count: `SELECT CAST(count(*) AS INTEGER) AS events, CAST(sum(CASE
      WHEN type = CASE WHEN seq % 5 = 0 THEN 'thread_created' ELSE 'message_posted' END
        AND thread_id = 't' || (seq % 100)
        AND COALESCE(run_id, '') = CASE WHEN seq % 3 = 0 THEN 'r' || seq ELSE '' END THEN 0
      ELSE 1 END) AS INTEGER) AS wrongly_scoped
    FROM artifactr_events`,

  usedIds: `SELECT tenant_id AS tenant, workspace_id AS workspace, CAST(count(*) AS INTEGER) AS ids
    FROM artifactr_messages GROUP BY tenant_id, workspace_id ORDER BY tenant_id, workspace_id`,

  /** 20,000 numbers, of which every fifth creates a thread. */
  expectedIds: tenants.flatMap((tenant) =>
    workspaces.map((workspace) => ({ tenant, workspace, ids: 16_000 })),
  ),

  strayIds: `${numbers}
    SELECT id FROM artifactr_messages EXCEPT SELECT 'm' || s FROM numbers WHERE s < 20000 AND s % 5 <> 0`,
}
