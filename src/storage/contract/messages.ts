/** A message id is used once in a workspace (ADR-0045). */
import assert from 'node:assert/strict'
import {
  elsewhere,
  type Fact,
  isUsed,
  needing,
  post,
  posted,
  save,
  scope,
  seqs,
  upTo,
  writes,
} from './subject.js'

/** Ids that some databases would confuse, trim, fold or cut. */
const exactIds = [
  'a',
  'A',
  ' a',
  'a ',
  'a  ',
  '\u00e9',
  'e\u0301',
  '\u{1f600}'.repeat(63),
  '\u{1f600}'.repeat(62),
  'x'.repeat(255),
  'x'.repeat(254),
  '%',
  '_',
  "'",
  '"',
  '\\',
  '{}',
  'NULL',
  '1',
  '01',
  '1.0',
  '__proto__',
  'constructor',
  'toString',
  '\u200b',
  '\ufeff',
  '\uffff',
  '\u0130',
  'i',
  '\u00df',
  'ss',
]

export const messageFacts: readonly Fact[] = [
  {
    fact: 'a message id that nobody saved is not used',
    holds: async ({ open }) => {
      const storage = await open()
      assert.equal(await isUsed(storage, scope, 'm1'), false)
    },
  },
  {
    fact: 'a saved message id is used in its workspace and in no other',
    holds: async ({ open }) => {
      const storage = await open()
      await save(storage, scope, { events: [posted('m1')], messages: ['m1'] })
      assert.equal(await isUsed(storage, scope, 'm1'), true)
      for (const other of elsewhere) assert.equal(await isUsed(storage, other, 'm1'), false)
      for (const other of elsewhere) assert.equal(await post(storage, other, 'm1'), true)
    },
  },
  {
    fact: 'a used message id is found by its key and not in the log',
    holds: async ({ open, eraseLog }) => {
      const storage = await open()
      await post(storage, scope, 'm1')
      await eraseLog(scope)
      assert.deepEqual(await seqs(storage, scope), [])
      assert.equal(await isUsed(storage, scope, 'm1'), true)
      assert.equal(await post(storage, scope, 'm1'), false)
    },
  },
  {
    fact: 'a message in the log whose id was not recorded does not make the id used',
    holds: async ({ open }) => {
      const storage = await open()
      await save(storage, scope, { events: [posted('m1')] })
      assert.equal(await isUsed(storage, scope, 'm1'), false)
    },
  },
  {
    fact: 'a rollback leaves no message id burnt',
    holds: async ({ open }) => {
      const storage = await open()
      const failure = new Error('refused after saving')
      const failing = storage.transaction(scope, async (transaction) => {
        await transaction.save(writes({ events: [posted('m1')], messages: ['m1'] }))
        throw failure
      })
      await assert.rejects(failing, failure)
      assert.equal(await isUsed(storage, scope, 'm1'), false)
      assert.equal(await post(storage, scope, 'm1'), true)
      assert.deepEqual(await seqs(storage, scope), [1])
    },
  },
  {
    fact: 'of fifty identical posts at once one is carried out',
    holds: async ({ open }) => {
      const storage = await open()
      const posts = await Promise.all(upTo(50).map(() => post(storage, scope, 'm1')))
      assert.equal(posts.filter(Boolean).length, 1)
      assert.deepEqual(await seqs(storage, scope), [1])
    },
  },
  {
    fact: 'of identical posts at once through two storages one is carried out, on a new workspace and ever after',
    holds: async ({ open }) => {
      const storages = [await open(), await open()]
      for (const n of upTo(12)) {
        const posts = await Promise.all(
          upTo(4).flatMap(() => storages.map((storage) => post(storage, scope, `m${n}`))),
        )
        assert.equal(posts.filter(Boolean).length, 1)
      }
      for (const storage of storages) assert.deepEqual(await seqs(storage, scope), upTo(12))
    },
  },
  {
    fact: 'message ids compare exactly',
    holds: async ({ open }) => {
      const storage = await open()
      for (const id of exactIds)
        assert.equal(await post(storage, scope, id), true, `${id} was taken for another`)
      for (const id of exactIds)
        assert.equal(await post(storage, scope, id), false, `${id} was not found again`)
      const { messages } = await storage.load(scope, needing({ messages: exactIds }))
      assert.deepEqual(
        [...messages],
        exactIds.map((id) => [id, true]),
      )
    },
  },
  {
    fact: 'tenant and workspace ids compare exactly',
    holds: async ({ open }) => {
      const storage = await open()
      for (const id of exactIds) {
        assert.equal(await post(storage, { tenantId: id, workspaceId: 'w' }, 'm1'), true, `tenant ${id}`)
        assert.equal(await post(storage, { tenantId: 't', workspaceId: id }, 'm1'), true, `workspace ${id}`)
      }
    },
  },
]
