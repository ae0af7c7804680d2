/** Lists and the log: oldest first, filtered and paged in the storage (domain §8). */
import assert from 'node:assert/strict'
import type { ProposalStatus, Revision, Run, RunStatus } from '../../core/entities.js'
import type { JsonValue } from '../../core/json.js'
import type { EventFilter, Page, Storage, Window } from '../port.js'
import {
  actor,
  all,
  artifact,
  artifactCreated,
  envelope,
  type Fact,
  posted,
  save,
  scope,
  seqs,
  thread,
  threadCreated,
  upTo,
} from './subject.js'
import { boundedWindows, positions, windows } from './windows.js'

const ids = ({ entries }: Page<{ entity: { id: string } }>) => entries.map(({ entity }) => entity.id)

const run = (id: string, threadId: string, status: RunStatus): Run => ({
  id,
  threadId,
  status,
  pending: [],
  answers: [],
  traceIds: [],
})

const revision = (version: number, data: JsonValue): Revision => ({
  artifactId: 'a1',
  version,
  kind: 'note',
  data,
  actor,
  archived: false,
})

const filtered = async (storage: Storage, filter: EventFilter, window: Window = all): Promise<number[]> =>
  (await storage.events(scope, filter, window)).entries.map(({ seq }) => seq)

export const listFacts: readonly Fact[] = [
  {
    fact: 'a window shows its part of the log, oldest first',
    holds: async ({ open }) => {
      const storage = await open()
      await save(storage, scope, { events: upTo(10).map((n) => posted(`m${n}`)) })
      for (const [window, shown, more] of windows) {
        const page = await storage.events(scope, {}, window)
        assert.deepEqual([page.entries.map(({ seq }) => seq), page.more], [shown, more])
      }
    },
  },
  {
    fact: 'a window that is bounded in bytes ends with the entry that reaches them, in every list and from either end',
    holds: async ({ open }) => {
      const storage = await open()
      const texts = upTo(8).map((n) => 'x'.repeat(n <= 3 ? 1 : 10_000))
      const change = { type: 'archive', artifactId: 'a1', baseVersion: 1 } as const
      await save(storage, scope, {
        events: texts.map((name) => envelope({ type: 'app_event', name })),
        threads: texts.map((title, n) => thread(`t${n}`, title)),
        artifacts: texts.map((text, n) => artifact(`a${n}`, { data: { text } })),
        proposals: texts.map((reason, n) => ({
          id: `p${n}`,
          artifactId: 'a1',
          change,
          proposedBy: actor,
          status: 'rejected',
          reason,
        })),
        runs: texts.map((text, n) => ({ ...run(`r${n}`, 't1', 'completed'), traceIds: [text] })),
        revisions: texts.map((text, n) => revision(n + 1, { text })),
      })
      for (const [window, shown, more] of boundedWindows) {
        const { entries, more: moreEvents } = await storage.events(scope, {}, window)
        assert.deepEqual({ shown: entries.map(({ seq }) => seq), more: moreEvents }, { shown, more })
        for (const page of [
          storage.threads(scope, window),
          storage.artifacts(scope, { includeArchived: true }, window),
          storage.proposals(scope, {}, window),
          storage.runs(scope, {}, window),
          storage.revisions(scope, 'a1', window),
        ])
          assert.deepEqual(positions(await page), { shown, more })
      }
    },
  },
  {
    fact: 'the log is filtered by type, by thread, and by what reaches a follower',
    holds: async ({ open }) => {
      const storage = await open()
      const value = { rating: 5 }
      await save(storage, scope, {
        events: [
          threadCreated('t1'),
          posted('m1', 't1'),
          posted('m2', 't2'),
          { ...artifactCreated('a1'), threadId: 't2' },
          envelope({ type: 'app_event', name: 'x' }),
          envelope({ type: 'app_event', name: 'x' }, { threadId: 't2' }),
          envelope({
            type: 'feedback_given',
            feedbackType: 'f',
            target: { type: 'artifact', artifactId: 'a1', version: 1 },
            value,
          }),
          posted('m3', 't1'),
        ],
      })
      assert.deepEqual(await filtered(storage, { types: ['message_posted'] }), [2, 3, 8])
      assert.deepEqual(await filtered(storage, { types: ['thread_created', 'app_event'] }), [1, 5, 6])
      assert.deepEqual(await filtered(storage, { types: [] }), [])
      assert.deepEqual(await filtered(storage, { threadId: 't1' }), [1, 2, 8])
      assert.deepEqual(await filtered(storage, { threadId: 't1', types: ['message_posted'] }), [2, 8])
      assert.deepEqual(await filtered(storage, { following: ['t1'] }), [1, 2, 4, 5, 7, 8])
      assert.deepEqual(await filtered(storage, { following: ['t1', 't2'] }), upTo(8))
      assert.deepEqual(await filtered(storage, { following: [] }), [4, 5, 7])
      assert.deepEqual(
        await filtered(storage, { threadId: 't1' }, { after: 1, limit: 1, from: 'start' }),
        [2],
      )
      assert.deepEqual(
        await filtered(storage, { following: ['t1'] }, { before: 8, limit: 2, from: 'end' }),
        [5, 7],
      )
    },
  },
  {
    fact: 'threads are listed in the order of their creation, whatever changed since',
    holds: async ({ open }) => {
      const storage = await open()
      for (const n of upTo(10)) {
        await save(storage, scope, { events: [threadCreated(`t${n}`)], threads: [thread(`t${n}`)] })
      }
      await save(storage, scope, { events: [threadCreated('t3')], threads: [thread('t3', 'changed')] })
      const listed = await storage.threads(scope, all)
      assert.deepEqual(
        ids(listed),
        upTo(10).map((n) => `t${n}`),
      )
      assert.equal(listed.entries[2]?.entity.title, 'changed')
      for (const [window, shown, more] of windows)
        assert.deepEqual(positions(await storage.threads(scope, window)), { shown, more })
    },
  },
  {
    fact: 'artifacts are listed by kind, and archived ones when asked for',
    holds: async ({ open }) => {
      const storage = await open()
      const artifacts = [
        artifact('a1'),
        artifact('a2', { kind: 'checklist' }),
        artifact('a3', { archived: true }),
        artifact('a4'),
      ]
      await save(storage, scope, { events: artifacts.map(({ id }) => artifactCreated(id)), artifacts })
      assert.deepEqual(ids(await storage.artifacts(scope, { includeArchived: false }, all)), [
        'a1',
        'a2',
        'a4',
      ])
      assert.deepEqual(ids(await storage.artifacts(scope, { includeArchived: true }, all)), [
        'a1',
        'a2',
        'a3',
        'a4',
      ])
      assert.deepEqual(ids(await storage.artifacts(scope, { kind: 'note', includeArchived: false }, all)), [
        'a1',
        'a4',
      ])
      assert.deepEqual(ids(await storage.artifacts(scope, { kind: 'none', includeArchived: true }, all)), [])
      const last: Window = { limit: 1, from: 'end' }
      assert.deepEqual(ids(await storage.artifacts(scope, { kind: 'note', includeArchived: false }, last)), [
        'a4',
      ])
      await save(storage, scope, {
        events: [artifactCreated('a1')],
        artifacts: [artifact('a1', { archived: true })],
      })
      assert.deepEqual(ids(await storage.artifacts(scope, { includeArchived: false }, all)), ['a2', 'a4'])
    },
  },
  {
    fact: 'proposals are listed by their present status',
    holds: async ({ open }) => {
      const storage = await open()
      const proposal = (id: string, status: ProposalStatus) => ({
        id,
        artifactId: 'a1',
        change: { type: 'archive' as const, artifactId: 'a1', baseVersion: 1 },
        proposedBy: actor,
        status,
      })
      const proposals = [proposal('p1', 'pending'), proposal('p2', 'rejected'), proposal('p3', 'pending')]
      await save(storage, scope, { events: proposals.map(() => artifactCreated('a1')), proposals })
      assert.deepEqual(ids(await storage.proposals(scope, {}, all)), ['p1', 'p2', 'p3'])
      assert.deepEqual(ids(await storage.proposals(scope, { status: 'pending' }, all)), ['p1', 'p3'])
      await save(storage, scope, { events: [artifactCreated('a1')], proposals: [proposal('p1', 'accepted')] })
      assert.deepEqual(ids(await storage.proposals(scope, { status: 'pending' }, all)), ['p3'])
      assert.deepEqual(ids(await storage.proposals(scope, { status: 'accepted' }, all)), ['p1'])
    },
  },
  {
    fact: 'runs are listed by thread and by their present status',
    holds: async ({ open }) => {
      const storage = await open()
      const runs = [run('r1', 't1', 'completed'), run('r2', 't2', 'running'), run('r3', 't1', 'paused')]
      await save(storage, scope, { events: runs.map(() => threadCreated('t1')), runs })
      assert.deepEqual(ids(await storage.runs(scope, {}, all)), ['r1', 'r2', 'r3'])
      assert.deepEqual(ids(await storage.runs(scope, { threadId: 't1' }, all)), ['r1', 'r3'])
      assert.deepEqual(ids(await storage.runs(scope, { statuses: ['running', 'paused'] }, all)), ['r2', 'r3'])
      await save(storage, scope, { events: [threadCreated('t1')], runs: [run('r3', 't1', 'failed')] })
      assert.deepEqual(
        ids(await storage.runs(scope, { threadId: 't1', statuses: ['running', 'paused'] }, all)),
        [],
      )
      assert.deepEqual(ids(await storage.runs(scope, { statuses: ['failed'] }, all)), ['r3'])
    },
  },
  {
    fact: 'revisions are kept for every version',
    holds: async ({ open }) => {
      const storage = await open()
      const version = (n: number) => revision(n, { text: `version ${n}`, zebra: 1, apple: 2 })
      for (const n of upTo(10)) {
        await save(storage, scope, { events: [artifactCreated('a1')], revisions: [version(n)] })
      }
      await save(storage, scope, {
        events: [artifactCreated('a2')],
        revisions: [{ ...version(1), artifactId: 'a2' }],
      })
      for (const [window, shown, more] of windows) {
        const page = await storage.revisions(scope, 'a1', window)
        assert.deepEqual(positions(page), { shown, more })
        assert.deepEqual(
          page.entries.map(({ entity }) => entity),
          shown.map(version),
        )
      }
      const { entries } = await storage.revisions(scope, 'a1', all)
      assert.equal(JSON.stringify(entries[0]?.entity.data), '{"text":"version 1","zebra":1,"apple":2}')
      assert.deepEqual(positions(await storage.revisions(scope, 'a9', all)), { shown: [], more: false })
    },
  },
  {
    fact: 'entities created in one save are listed in its order',
    holds: async ({ open }) => {
      const storage = await open()
      const names = ['t2', 't10', 't1']
      await save(storage, scope, { events: names.map(threadCreated), threads: names.map((id) => thread(id)) })
      assert.deepEqual(ids(await storage.threads(scope, all)), names)
      assert.deepEqual(await seqs(storage, scope), [1, 2, 3])
    },
  },
]
