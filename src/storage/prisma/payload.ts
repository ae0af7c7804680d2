/**
 * What a commit writes, as one JSON text per table that set-based statements take apart: one statement a table, however many rows.
 */
import { serializeEnvelope } from '../../core/envelopes.js'
import type { Staging } from '../staging.js'
import { raw, type Sql } from './dialect.js'

/** A table a commit writes to, the columns it fills beyond tenant and workspace, and which of them a later write may change. */
export interface Target {
  readonly table: Sql
  readonly columns: readonly Column[]
  readonly key: readonly string[]
  readonly changes: readonly string[]
  readonly rows: readonly Record<string, unknown>[]
}

export interface Column {
  readonly name: string
  /** `HEX` is text that is stored as the bytes it spells. */
  readonly type: 'TEXT' | 'BIGINT' | 'BOOLEAN' | 'INTEGER' | 'HEX'
}

const text = (name: string): Column => ({ name, type: 'TEXT' })
const bigint = (name: string): Column => ({ name, type: 'BIGINT' })
const id = text('id')
const position = bigint('position')
const body = text('body')

/** The tables a commit writes to, in a fixed order; those it has nothing for are left out. */
export const targets = ({
  entities,
  revisions,
  events,
  messages,
  commands,
  turns,
  histories,
}: Staging): readonly Target[] => {
  const { artifacts, proposals, threads, runs } = entities
  const all: readonly Target[] = [
    {
      table: raw('artifactr_threads'),
      columns: [id, position, body],
      key: ['id'],
      changes: ['body'],
      rows: [...threads].map(([id, { position, entity }]) => ({
        id,
        position,
        body: JSON.stringify(entity),
      })),
    },
    {
      table: raw('artifactr_artifacts'),
      columns: [id, position, text('kind'), { name: 'archived', type: 'BOOLEAN' }, body],
      key: ['id'],
      changes: ['kind', 'archived', 'body'],
      rows: [...artifacts].map(([id, { position, entity }]) => {
        const { kind, archived } = entity
        return { id, position, kind, archived, body: JSON.stringify(entity) }
      }),
    },
    {
      table: raw('artifactr_revisions'),
      columns: [text('artifact_id'), { name: 'version', type: 'INTEGER' }, body],
      key: ['artifact_id', 'version'],
      changes: [],
      rows: revisions.map((revision) => {
        const { artifactId, version } = revision
        return { artifact_id: artifactId, version, body: JSON.stringify(revision) }
      }),
    },
    {
      table: raw('artifactr_proposals'),
      columns: [id, position, text('status'), text('artifact_id'), body],
      key: ['id'],
      changes: ['status', 'body'],
      rows: [...proposals].map(([id, { position, entity }]) => {
        const { status, artifactId } = entity
        return { id, position, status, artifact_id: artifactId, body: JSON.stringify(entity) }
      }),
    },
    {
      table: raw('artifactr_runs'),
      columns: [id, position, text('thread_id'), text('status'), body],
      key: ['id'],
      changes: ['status', 'body'],
      rows: [...runs].map(([id, { position, entity }]) => {
        const { threadId, status } = entity
        return { id, position, thread_id: threadId, status, body: JSON.stringify(entity) }
      }),
    },
    {
      table: raw('artifactr_events'),
      columns: [bigint('seq'), id, text('type'), text('thread_id'), text('run_id'), text('envelope')],
      key: ['seq'],
      changes: [],
      rows: events.map((envelope) => {
        const { seq, id, threadId = null, runId = null, event } = envelope
        return {
          seq,
          id,
          type: event.type,
          thread_id: threadId,
          run_id: runId,
          envelope: serializeEnvelope(envelope),
        }
      }),
    },
    {
      table: raw('artifactr_messages'),
      columns: [id],
      key: ['id'],
      changes: [],
      rows: [...messages].map((id) => ({ id })),
    },
    {
      table: raw('artifactr_commands'),
      columns: [text('participant'), text('command_id'), text('result'), bigint('stored_at')],
      key: ['participant', 'command_id'],
      changes: [],
      rows: [...commands.values()].map(({ participant, commandId, result }) => {
        return { participant, command_id: commandId, result, stored_at: Date.now() }
      }),
    },
    {
      table: raw('artifactr_turns'),
      columns: [text('thread_id'), bigint('asked'), bigint('taken'), { name: 'owed', type: 'BOOLEAN' }],
      key: ['thread_id'],
      changes: ['asked', 'taken', 'owed'],
      rows: [...turns].map(([thread_id, { asked, taken }]) => {
        return { thread_id, asked, taken, owed: asked > taken }
      }),
    },
    {
      table: raw('artifactr_model_history'),
      columns: [text('thread_id'), { name: 'body', type: 'HEX' }],
      key: ['thread_id'],
      changes: ['body'],
      rows: [...histories].map(([thread_id, history]) => {
        return { thread_id, body: Buffer.from(history).toString('hex') }
      }),
    },
  ]
  return all.filter(({ rows }) => rows.length > 0)
}

/** `INSERT … ON CONFLICT`'s end: entities are replaced, what is append-only has none, so that a second write of it fails. */
export const onConflict = ({ key, changes }: Target): Sql =>
  changes.length === 0
    ? raw('')
    : raw(
        `ON CONFLICT (tenant_id, workspace_id, ${key.join(', ')}) DO UPDATE SET ${changes
          .map((column) => `${column} = excluded.${column}`)
          .join(', ')}`,
      )

export const columnNames = ({ columns }: Target): string => columns.map(({ name }) => name).join(', ')
