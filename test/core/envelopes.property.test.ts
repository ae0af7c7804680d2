/** Stored events: whatever was recorded reads back as it was. */
import fc from 'fast-check'
import { expect, it } from 'vitest'
import { parseEnvelope, serializeEnvelope } from '../../src/core/envelopes.js'
import { eventTypes } from '../../src/core/events.js'
import { envelope, json } from './arbitraries.js'
import { plain } from './host.js'

it('every envelope reads back as it was, keys of the application included', () => {
  fc.assert(
    fc.property(envelope, (recorded) => {
      const read = parseEnvelope(serializeEnvelope(recorded))
      expect(plain(read)).toEqual(plain(recorded))
    }),
    { numRuns: 1_000 },
  )
})

it('an opaque value reads back to the order of its keys', () => {
  fc.assert(
    fc.property(envelope, json, (recorded, data) => {
      const event = { type: 'app_event', name: 'x', data } as const
      const read = parseEnvelope(serializeEnvelope({ ...recorded, event })).event
      expect(JSON.stringify('data' in read ? read.data : undefined)).toBe(JSON.stringify(data))
    }),
  )
})

it('the stored form is stable: writing what was read gives the same text', () => {
  fc.assert(
    fc.property(envelope, (recorded) => {
      const stored = serializeEnvelope(recorded)
      expect(JSON.parse(serializeEnvelope(parseEnvelope(stored)))).toEqual(JSON.parse(stored))
    }),
  )
})

it('an event of a type this version does not know reads back as it is, and is stored as it was', () => {
  fc.assert(
    fc.property(
      envelope,
      fc.dictionary(fc.string(), json, { maxKeys: 3, noNullPrototype: true }),
      (recorded, fields) => {
        const event = { ...fields, type: 'artifact_renamed' }
        const stored = JSON.stringify({ ...JSON.parse(serializeEnvelope(recorded)), event })
        const read = parseEnvelope(stored)
        expect(read.event).toEqual({ type: 'artifact_renamed', unknown: true, data: event })
        expect(JSON.parse(serializeEnvelope(read))).toEqual(JSON.parse(stored))
      },
    ),
  )
})

it('an envelope is stored in snake_case', () => {
  const stored = serializeEnvelope({
    seq: 1,
    id: 'e1',
    ts: '2026-10-01T09:30:00.000Z',
    workspaceId: 'w1',
    threadId: 't1',
    actor: { kind: 'agent', threadId: 't1', name: 'assistant' },
    event: {
      type: 'message_posted',
      threadId: 't1',
      messageId: 'm1',
      content: 'Hi',
      kind: 'message',
      runId: undefined,
    },
  })
  expect(JSON.parse(stored)).toEqual({
    seq: 1,
    id: 'e1',
    ts: '2026-10-01T09:30:00.000Z',
    workspace_id: 'w1',
    thread_id: 't1',
    actor: { kind: 'agent', thread_id: 't1', name: 'assistant' },
    event: { type: 'message_posted', thread_id: 't1', message_id: 'm1', content: 'Hi', kind: 'message' },
  })
})

it.each(['', '{', '1', 'null', '[]', '{"seq":1}'])('%j is no envelope', (stored) => {
  expect(() => parseEnvelope(stored)).toThrow()
})

it('an envelope without an event, or with one that has no type, holds an event that is not known', () => {
  const header = JSON.parse(
    serializeEnvelope({
      seq: 1,
      id: 'e1',
      ts: '2026-10-01T09:30:00.000Z',
      workspaceId: 'w1',
      actor: { kind: 'system', name: 'system' },
      event: { type: 'app_event', name: 'x' },
    }),
  )
  expect(parseEnvelope(JSON.stringify({ ...header, event: undefined })).event).toMatchObject({
    unknown: true,
    data: null,
  })
  expect(parseEnvelope(JSON.stringify({ ...header, event: [1] })).event).toMatchObject({
    unknown: true,
    data: [1],
  })
})

it('there are 17 types of event', () => {
  expect(new Set(eventTypes).size).toBe(17)
})
