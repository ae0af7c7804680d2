/**
 * Every read, each one statement and so one snapshot. All filter on tenant and workspace by equality, so that they are index look-ups
 * whatever the statistics say.
 */
import { z } from 'zod'
import type { Revision } from '../../core/entities.js'
import { type Envelope, parseEnvelope, type Seq } from '../../core/envelopes.js'
import { workspaceScopedEvents } from '../../core/events.js'
import { type EntityKind, entityKinds, type Needs, type State } from '../../core/state.js'
import { parseEntity, parseRevision } from '../codec.js'
import type { EventFilter, Listed, Scope, Window } from '../port.js'
import type { Entities, ListedKind } from '../staging.js'
import { type Dialect, join, raw, type Sql, sql } from './dialect.js'

/** What was loaded, and the state of the workspace it was loaded from. */
export interface Snapshot {
  readonly head: Seq
  /** The token of the last commit; `null` before the first. */
  readonly token: string | null
  readonly state: State
}

export const tables = {
  artifacts: raw('artifactr_artifacts'),
  proposals: raw('artifactr_proposals'),
  threads: raw('artifactr_threads'),
  runs: raw('artifactr_runs'),
  messages: raw('artifactr_messages'),
} as const satisfies Record<EntityKind, Sql>

const snapshotRows = z.array(z.object({ kind: z.string(), id: z.string(), body: z.string() }))

export const inScope = ({ tenantId, workspaceId }: Scope): Sql =>
  sql`tenant_id = ${tenantId} AND workspace_id = ${workspaceId}`

/** Loads by key, together with the workspace's head. A message id is looked up by its key and never in the log (ADR-0045). */
export const readSnapshot = async (dialect: Dialect, scope: Scope, needs: Needs): Promise<Snapshot> => {
  const parts = entityKinds
    .filter((kind) => needs[kind].length > 0)
    .map((kind) => {
      const body = kind === 'messages' ? sql`''` : sql`body`
      const ids = dialect.oneOf(sql`id`, needs[kind])
      return sql`SELECT ${raw(`'${kind}'`)} AS kind, id, ${body} AS body FROM ${tables[kind]} WHERE ${inScope(scope)} AND ${ids}`
    })
  const workspace = sql`SELECT 'workspace' AS kind, commit_token AS id, CAST(head_seq AS TEXT) AS body
    FROM artifactr_workspaces WHERE ${inScope(scope)}`
  const rows = snapshotRows.parse(await dialect.reads.$queryRaw(join([workspace, ...parts], ' UNION ALL ')))
  const found = (kind: string) =>
    new Map(rows.filter((row) => row.kind === kind).map((row) => [row.id, row.body]))
  const [[token, head] = [null, '0']] = found('workspace')
  const entities = <Kind extends ListedKind>(kind: Kind): Map<string, Entities[Kind] | null> => {
    const bodies = found(kind)
    return new Map(
      needs[kind].map((id) => {
        const body = bodies.get(id)
        return [id, body === undefined ? null : parseEntity(kind, body)]
      }),
    )
  }
  const used = found('messages')
  const state: State = {
    artifacts: entities('artifacts'),
    proposals: entities('proposals'),
    threads: entities('threads'),
    runs: entities('runs'),
    messages: new Map(needs.messages.map((id) => [id, used.has(id)])),
  }
  return { head: Number(head), token, state }
}

const listRows = z.array(
  z.object({ position: z.union([z.bigint(), z.number()]).transform(Number), body: z.string() }),
)

export interface List {
  readonly table: Sql
  readonly position: Sql
  readonly body: Sql
  /** Conditions beyond the scope. */
  readonly where: readonly Sql[]
}

/** Whatever the column's own type, so that no position is out of its range. */
const bigint = (position: number): Sql => sql`CAST(${BigInt(position)} AS BIGINT)`

export const readList = async (
  dialect: Dialect,
  scope: Scope,
  list: List,
  window: Window,
): Promise<z.output<typeof listRows>> => {
  const { position } = list
  const conditions = [
    inScope(scope),
    ...list.where,
    ...(window.after === undefined ? [] : [sql`${position} > ${bigint(window.after)}`]),
    ...(window.before === undefined ? [] : [sql`${position} < ${bigint(window.before)}`]),
  ]
  const order = window.from === 'start' ? raw('ASC') : raw('DESC')
  const rows = listRows.parse(
    await dialect.reads.$queryRaw(sql`SELECT ${position} AS position, ${list.body} AS body FROM ${list.table}
      WHERE ${join(conditions, ' AND ')} ORDER BY ${position} ${order} LIMIT ${window.limit}`),
  )
  return window.from === 'start' ? rows : rows.reverse()
}

const placed = { position: sql`position`, body: sql`body` }

export const readEntities = async <Kind extends ListedKind>(
  dialect: Dialect,
  scope: Scope,
  kind: Kind,
  where: readonly Sql[],
  window: Window,
): Promise<readonly Listed<Entities[Kind]>[]> => {
  const rows = await readList(dialect, scope, { table: tables[kind], ...placed, where }, window)
  return rows.map(({ position, body }) => ({ position, entity: parseEntity(kind, body) }))
}

export const readRevisions = async (
  dialect: Dialect,
  scope: Scope,
  artifactId: string,
  window: Window,
): Promise<readonly Listed<Revision>[]> => {
  const list = { table: raw('artifactr_revisions'), position: sql`version`, body: sql`body` }
  const rows = await readList(dialect, scope, { ...list, where: [sql`artifact_id = ${artifactId}`] }, window)
  return rows.map(({ position, body }) => ({ position, entity: parseRevision(body) }))
}

export const readEvents = async (
  dialect: Dialect,
  scope: Scope,
  { types, threadId, following }: EventFilter,
  window: Window,
): Promise<readonly Envelope[]> => {
  const where: Sql[] = []
  if (types !== undefined) where.push(dialect.oneOf(sql`type`, types))
  if (threadId !== undefined) where.push(sql`thread_id = ${threadId}`)
  if (following !== undefined) {
    const ofWorkspace = dialect.oneOf(sql`type`, workspaceScopedEvents)
    where.push(sql`(thread_id IS NULL OR ${ofWorkspace} OR ${dialect.oneOf(sql`thread_id`, following)})`)
  }
  const list = { table: raw('artifactr_events'), position: sql`seq`, body: sql`envelope`, where }
  return (await readList(dialect, scope, list, window)).map(({ body }) => parseEnvelope(body))
}
