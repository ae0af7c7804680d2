/**
 * Every read, each one statement and so one snapshot. All filter on tenant and workspace by equality, so that they are index look-ups
 * whatever the statistics say.
 */
import { z } from 'zod'
import type { Revision } from '../../core/entities.js'
import { type Envelope, readEnvelope, type Seq } from '../../core/envelopes.js'
import { workspaceScopedEvents } from '../../core/events.js'
import { type EntityKind, entityKinds, type State } from '../../core/state.js'
import { parseEntity, parseRevision } from '../codec.js'
import { mapPage, pageOf } from '../pages.js'
import {
  commandKey,
  type EventFilter,
  type Expected,
  type Listed,
  type Page,
  type Scope,
  type TurnPositions,
  type Window,
} from '../port.js'
import type { Entities, ListedKind } from '../staging.js'
import { type Dialect, join, raw, type Sql, sql } from './dialect.js'

/** What was loaded, and the state of the workspace it was loaded from. */
export interface Snapshot {
  readonly head: Seq
  /** The token of the last commit; `null` before the first. */
  readonly token: string | null
  readonly state: State
  /** What is remembered of commands, by `commandKey`; `null` for those that are not. */
  readonly commands: ReadonlyMap<string, string | null>
  readonly turns: ReadonlyMap<string, TurnPositions>
}

const tables = {
  artifacts: raw('artifactr_artifacts'),
  proposals: raw('artifactr_proposals'),
  threads: raw('artifactr_threads'),
  runs: raw('artifactr_runs'),
  messages: raw('artifactr_messages'),
} as const satisfies Record<EntityKind, Sql>

const snapshotRows = z.array(
  z.object({ kind: z.string(), id: z.string(), owner: z.string(), body: z.string() }),
)

export const inScope = ({ tenantId, workspaceId }: Scope): Sql =>
  sql`tenant_id = ${tenantId} AND workspace_id = ${workspaceId}`

/** Loads by key, together with the workspace's head. A message id is looked up by its key and never in the log (ADR-0045). */
export const readSnapshot = async (dialect: Dialect, scope: Scope, wanted: Expected): Promise<Snapshot> => {
  const rows = snapshotRows.parse(await dialect.reads.$queryRaw(snapshotQuery(dialect, scope, wanted)))
  const of = (kind: string) => rows.filter((row) => row.kind === kind)
  const entities = <Kind extends ListedKind>(kind: Kind): Map<string, Entities[Kind] | null> => {
    const bodies = new Map(of(kind).map(({ id, body }) => [id, body]))
    return new Map(
      wanted[kind].map((id) => {
        const body = bodies.get(id)
        return [id, body === undefined ? null : parseEntity(kind, body)]
      }),
    )
  }
  const used = new Set(of('messages').map(({ id }) => id))
  const state: State = {
    artifacts: entities('artifacts'),
    proposals: entities('proposals'),
    threads: entities('threads'),
    runs: entities('runs'),
    messages: new Map(wanted.messages.map((id) => [id, used.has(id)])),
  }
  const results = new Map(
    of('commands').map(({ owner, id, body }) => [commandKey({ participant: owner, commandId: id }), body]),
  )
  const commands = new Map(wanted.commands?.map(commandKey).map((key) => [key, results.get(key) ?? null]))
  const positions = new Map(
    of('turns').map(({ id, owner, body }) => [id, { asked: Number(owner), taken: Number(body) }]),
  )
  const turns = new Map(wanted.turns?.map((id) => [id, positions.get(id) ?? { asked: 0, taken: 0 }]))
  const [workspace] = of('workspace')
  return { head: Number(workspace?.body ?? 0), token: workspace?.id ?? null, state, commands, turns }
}

const snapshotQuery = (dialect: Dialect, scope: Scope, wanted: Expected): Sql => {
  const workspace = sql`SELECT 'workspace' AS kind, '' AS owner, commit_token AS id, CAST(head_seq AS TEXT) AS body
    FROM artifactr_workspaces WHERE ${inScope(scope)}`
  const parts = entityKinds
    .filter((kind) => wanted[kind].length > 0)
    .map((kind) => {
      const body = kind === 'messages' ? sql`''` : sql`body`
      return sql`SELECT ${raw(`'${kind}'`)} AS kind, '' AS owner, id, ${body} AS body
        FROM ${dialect.byKey(tables[kind], scope, sql`id`, wanted[kind])}`
    })
  if (wanted.commands !== undefined && wanted.commands.length > 0) {
    const commandIds = wanted.commands.map(({ commandId }) => commandId)
    parts.push(sql`SELECT 'commands' AS kind, participant AS owner, command_id AS id, result AS body
      FROM ${dialect.byKey(sql`artifactr_commands`, scope, sql`command_id`, commandIds)}`)
  }
  if (wanted.turns !== undefined && wanted.turns.length > 0) {
    parts.push(sql`SELECT 'turns' AS kind, CAST(asked AS TEXT) AS owner, thread_id AS id, CAST(taken AS TEXT) AS body
      FROM ${dialect.byKey(sql`artifactr_turns`, scope, sql`thread_id`, wanted.turns)}`)
  }
  return join([workspace, ...parts], ' UNION ALL ')
}

const listRows = z.array(
  z.object({ position: z.union([z.bigint(), z.number()]).transform(Number), body: z.string() }),
)

interface List {
  readonly table: Sql
  readonly position: Sql
  readonly body: Sql
  /** Conditions beyond the scope. */
  readonly where: readonly Sql[]
}

/** Whatever the column's own type, so that no position is out of its range. */
const bigint = (position: number): Sql => sql`CAST(${BigInt(position)} AS BIGINT)`

const readList = async (
  dialect: Dialect,
  scope: Scope,
  list: List,
  window: Window,
): Promise<Page<z.output<typeof listRows>[number]>> => {
  const { position } = list
  const conditions = [
    inScope(scope),
    ...list.where,
    ...(window.after === undefined ? [] : [sql`${position} > ${bigint(window.after)}`]),
    ...(window.before === undefined ? [] : [sql`${position} < ${bigint(window.before)}`]),
  ]
  const bounded = window.bytes === undefined ? [] : [withinBytes(list, conditions, window, window.bytes)]
  const where = join([...conditions, ...bounded], ' AND ')
  const rows = listRows.parse(
    await dialect.reads.$queryRaw(sql`SELECT ${position} AS position, ${list.body} AS body FROM ${list.table}
      WHERE ${where} ORDER BY ${position} ${orderOf(window)} LIMIT ${window.limit + 1}`),
  )
  return pageOf(rows, window)
}

const orderOf = ({ from }: Window): Sql => (from === 'start' ? raw('ASC') : raw('DESC'))

/**
 * Up to the first entry that there is no room for, by which it shows that there are more. Only lengths are looked at for it, which is done
 * without reading what is so long.
 */
const withinBytes = (
  { table, position, body }: List,
  conditions: readonly Sql[],
  window: Window,
  bytes: number,
): Sql => {
  const order = orderOf(window)
  const sizes = sql`SELECT ${position} AS place, octet_length(${body}) AS size FROM ${table}
    WHERE ${join([...conditions], ' AND ')} ORDER BY ${position} ${order} LIMIT ${window.limit + 1}`
  const ahead = sql`SELECT place, SUM(size) OVER (ORDER BY place ${order}) - size AS ahead FROM (${sizes}) AS sizes`
  const left = sql`FROM (${ahead}) AS measured WHERE ahead >= ${bytes}`
  return window.from === 'start'
    ? sql`${position} <= (SELECT COALESCE(MIN(place), ${bigint(Number.MAX_SAFE_INTEGER)}) ${left})`
    : sql`${position} >= (SELECT COALESCE(MAX(place), ${bigint(0)}) ${left})`
}

const placed = { position: sql`position`, body: sql`body` }

export const readEntities = async <Kind extends ListedKind>(
  dialect: Dialect,
  scope: Scope,
  kind: Kind,
  where: readonly Sql[],
  window: Window,
): Promise<Page<Listed<Entities[Kind]>>> => {
  const page = await readList(dialect, scope, { table: tables[kind], ...placed, where }, window)
  return mapPage(page, ({ position, body }) => ({ position, entity: parseEntity(kind, body) }))
}

export const readRevisions = async (
  dialect: Dialect,
  scope: Scope,
  artifactId: string,
  window: Window,
): Promise<Page<Listed<Revision>>> => {
  const list = { table: raw('artifactr_revisions'), position: sql`version`, body: sql`body` }
  const page = await readList(dialect, scope, { ...list, where: [sql`artifact_id = ${artifactId}`] }, window)
  return mapPage(page, ({ position, body }) => ({ position, entity: parseRevision(body) }))
}

export const readEvents = async (
  dialect: Dialect,
  scope: Scope,
  { types, threadId, following }: EventFilter,
  window: Window,
  onUnreadable: (seq: Seq, error: unknown) => void = () => undefined,
): Promise<Page<Envelope>> => {
  const where: Sql[] = []
  // One type is an equality, so that the index that has it before `seq` gives the order as well.
  if (types?.length === 1) where.push(sql`type = ${types[0]}`)
  else if (types !== undefined) where.push(dialect.oneOf(sql`type`, types))
  if (threadId !== undefined) where.push(sql`thread_id = ${threadId}`)
  if (following !== undefined) {
    const ofWorkspace = dialect.oneOf(sql`type`, workspaceScopedEvents)
    where.push(sql`(thread_id IS NULL OR ${ofWorkspace} OR ${dialect.oneOf(sql`thread_id`, following)})`)
  }
  const list = { table: raw('artifactr_events'), position: sql`seq`, body: sql`envelope`, where }
  const { workspaceId } = scope
  return mapPage(await readList(dialect, scope, list, window), ({ position: seq, body }) =>
    readEnvelope(body, { seq, workspaceId }, (error) => onUnreadable(seq, error)),
  )
}
