/** Why commands are refused (domain §6): codes, details, and messages that read well. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { parseOrRefuse } from '../../src/core/issues.js'
import {
  alreadyExists,
  Forbidden,
  InvalidState,
  invalid,
  NotFound,
  PatchFailed,
  Rejection,
  ValidationFailed,
  VersionConflict,
} from '../../src/core/rejections.js'

describe('a rejection', () => {
  it.each<[Rejection, string, string, string]>([
    [alreadyExists('message', 'm1'), 'InvalidState', 'invalid_state', 'message m1 already exists'],
    [new InvalidState('archived', 'it is archived'), 'InvalidState', 'invalid_state', 'it is archived'],
    [new NotFound('thread', 't9'), 'NotFound', 'not_found', 'thread t9 does not exist'],
    [
      new VersionConflict('a1', 7, 8),
      'VersionConflict',
      'version_conflict',
      'artifact a1 is at version 8; this change is based on version 7',
    ],
    [
      invalid(['content'], 'must not be empty'),
      'ValidationFailed',
      'validation_failed',
      'content must not be empty',
    ],
    [new PatchFailed('it does not apply'), 'PatchFailed', 'patch_failed', 'it does not apply'],
    [new Forbidden('no'), 'Forbidden', 'forbidden', 'no'],
  ])('%s has a name, a code and a message', (rejection, name, code, message) => {
    expect(rejection).toBeInstanceOf(Rejection)
    expect(rejection).toMatchObject({ name, code, message })
  })

  it('of a used id tells which', () => {
    expect(alreadyExists('message', 'm1')).toMatchObject({
      reason: 'already_exists',
      entity: 'message',
      id: 'm1',
    })
  })
})

describe('the message of a failed validation', () => {
  it('names a hundred fields, and says how many more are wrong', () => {
    const given = Object.fromEntries(Array.from({ length: 250 }, (_, n) => [`k${n}`, 'x']))
    try {
      parseOrRefuse(z.record(z.string(), z.literal('y', 'must be y')), given)
      expect.unreachable()
    } catch (error) {
      if (!(error instanceof ValidationFailed)) throw error
      expect(error.issues).toHaveLength(100)
      expect(error.message).toMatch(/^k0 must be y; .*; k99 must be y; and 150 more$/)
    }
  })

  const schema = z.object({
    title: z.string(),
    link: z.url().optional(),
    more: z.strictObject({}).optional(),
  })
  const message = (value: unknown): string => {
    try {
      return JSON.stringify(parseOrRefuse(schema, value))
    } catch (error) {
      return error instanceof ValidationFailed ? error.message : 'not a rejection'
    }
  }

  it.each<[unknown, string]>([
    [{ title: 'a' }, '{"title":"a"}'],
    [{}, 'title is required'],
    [{ title: null }, 'title must be text'],
    [{ title: 'a', link: 'b' }, 'link: Invalid URL'],
    [{ title: 1, link: 'b' }, 'title must be text; link: Invalid URL'],
    [{ title: 'a', more: { x: 1, y: 1 } }, 'more.x is not known; more.y is not known'],
    ['a', 'must be an object'],
  ])('of %j is: %s', (value, expected) => {
    expect(message(value)).toBe(expected)
  })
})
