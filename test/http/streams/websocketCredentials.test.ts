import { describe, expect, it } from 'vitest'
import { Unauthenticated } from '../../../src/http/identity/auth.js'
import { StorageUnavailable } from '../../../src/storage/port.js'
import { createThread } from '../../support/posts.js'
import { serving } from '../../support/serving.js'
import { openSocket } from '../../support/sockets.js'

const VIEWER = '{ viewer { tenantId actor { displayName ... on UserActor { userId } } } }'

const namesOf = (count: number): Record<string, string> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`x-${n}`, '1']))

describe('the credentials of a WebSocket', () => {
  const viewerOf = async (url: string, payload: object | undefined, headers: Record<string, string> = {}) => {
    const client = await openSocket(url, { headers })
    await client.init(payload)
    client.subscribe('q', { query: VIEWER })
    await client.over('q')
    const viewer = client.of('q')[0]?.payload.data.viewer
    return `${viewer.tenantId}/${viewer.actor.userId}/${viewer.actor.displayName}`
  }

  it('are the keys of what its first message carries, or those of its headers, in any case', async () => {
    const { url } = await serving()
    expect(await viewerOf(url, undefined)).toBe('dev/dev/dev')
    expect(await viewerOf(url, { 'X-Tenant': 'acme', 'x-user': 'ann' })).toBe('acme/ann/ann')
    expect(await viewerOf(url, { headers: { 'x-tenant': 'acme', 'X-USER': 'ann' } })).toBe('acme/ann/ann')
    expect(await viewerOf(url, { 'x-user': 'ann', 'x-user-name': 'Zoë 😀', other: { x: 1 } })).toBe(
      'dev/ann/Zoë 😀',
    )
  })

  it('are also the headers of its upgrade, which nothing it says overrides', async () => {
    const { url } = await serving()
    const headers = { 'x-tenant': 'acme', 'x-user': 'ann' }
    expect(await viewerOf(url, undefined, headers)).toBe('acme/ann/ann')
    expect(await viewerOf(url, { 'X-User': 'root', 'x-user-name': 'Ann' }, headers)).toBe('acme/ann/Ann')
  })

  it.each<[string, object, object]>([
    ['names', namesOf(100), namesOf(101)],
    [
      'names in its headers',
      { headers: namesOf(99), 'x-user': 'ann' },
      { headers: namesOf(100), 'x-user': 'ann' },
    ],
    ['bytes', { 'x-much': 'ß'.repeat(8_189) }, { 'x-much': 'ß'.repeat(8_190) }],
  ])('close it with 4400 where they have more %s than headers may have', async (_, most, more) => {
    const { url } = await serving()
    const client = await openSocket(url)
    await client.init(most)
    const other = await openSocket(url)
    other.send({ type: 'connection_init', payload: more })
    expect(await other.closed).toEqual({
      code: 4400,
      reason: 'connection_init names more than 100 headers, or more than 16384 bytes of them',
    })
    expect(other.messages).toEqual([])
  })

  it('close it with 4401 where they are bad', async () => {
    const { url } = await serving()
    const client = await openSocket(url)
    client.send({ type: 'connection_init', payload: { 'x-actor-kind': 'nobody' } })
    expect(await client.closed).toEqual({
      code: 4401,
      reason: 'x-actor-kind must be user, external_agent, system or evaluator',
    })
    expect(client.messages).toEqual([])
  })

  it('close it with 4401 where the reason is too long to be told', async () => {
    const { url } = await serving({
      resolveActor: () => {
        throw new Unauthenticated('é'.repeat(100))
      },
    })
    const client = await openSocket(url)
    client.send({ type: 'connection_init' })
    expect(await client.closed).toEqual({ code: 4401, reason: 'Unauthorized' })
  })

  it('close it as something to try again where they cannot be looked at now, and with 4500 where that is a bug', async () => {
    const ends: [Error, number][] = [
      [new StorageUnavailable('down'), 1013],
      [new Error('bug'), 4500],
    ]
    for (const [error, code] of ends) {
      const { url } = await serving({
        resolveActor: () => {
          throw error
        },
      })
      const client = await openSocket(url)
      client.send({ type: 'connection_init' })
      expect((await client.closed).code).toBe(code)
    }
  })

  it('end its subscriptions with TOKEN_EXPIRED, and then close it, when they expire', async () => {
    const { url } = await serving({
      // Long enough for a subscription to begin.
      resolveActor: () => ({
        tenantId: 'dev',
        actor: { kind: 'user', id: 'ann' },
        expiresAt: Date.now() + 2_000,
      }),
    })
    const client = await openSocket(url)
    await client.init()
    client.subscribe('a')
    const { type, payload } = await client.over('a')
    expect([type, payload[0].extensions]).toEqual(['error', { code: 'TOKEN_EXPIRED', retryable: true }])
    client.subscribe('q', { query: VIEWER })
    expect((await client.over('q')).payload[0].extensions.code).toBe('TOKEN_EXPIRED')
    expect(await client.closed).toEqual({ code: 4403, reason: 'Credentials expired' })
  })

  it('are looked at again while it runs: who may no longer use a workspace is sent nothing more', async () => {
    let allowed = true
    const { url } = await serving({
      authorize: ({ workspaceId }) => allowed || workspaceId !== 'w1',
      streams: { recheckEvery: 20 },
    })
    const client = await openSocket(url)
    await client.init()
    client.subscribe('a')
    client.subscribe('b', { variables: { workspaceId: 'w2' } })
    await client.come('both replays', () => client.of('a').length + client.of('b').length === 2)
    allowed = false
    const { type, payload } = await client.over('a')
    expect([type, payload[0].extensions]).toEqual(['error', { code: 'FORBIDDEN' }])
    await createThread(url, 't1', 'w2')
    await client.come('the other event', () => client.seqs('b').length === 1)
  })
})
