/** A short run of what `npm run fuzz` does at length: random requests never break the gateway, on any storage, and never differ. */
import { expect, onTestFinished, test } from 'vitest'
import { MemoryStorage } from '../../src/storage/memory.js'
import { describeStorages } from '../support/storages.js'
import { firstDifference } from './differential.js'
import { expectSound, fuzz } from './fuzzing.js'

const seed = 20_261_130

describeStorages((newSubject) => {
  test('random requests are answered or refused, and the log has no gap', async () => {
    const { open } = await newSubject()
    expectSound(await fuzz(open, seed, 150))
  }, 120_000)

  test('every answer is the one in memory', async () => {
    const memory = new MemoryStorage()
    onTestFinished(() => memory.close())
    const { open } = await newSubject()
    expect(await firstDifference({ memory, other: await open() }, seed, 80)).toBe(null)
  }, 120_000)
})
