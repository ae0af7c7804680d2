/** Much work leaves others their turn. */
import { expect, onTestFinished, test } from 'vitest'
import { breathe } from '../../src/workspace/breathe.js'

/** Works for so many milliseconds, and waits for nothing. */
const work = (time: number): void => {
  const until = performance.now() + time
  while (performance.now() < until);
}

/** How often a timer has its turn while something is under way. */
const turnsDuring = async (underWay: () => Promise<unknown>): Promise<number> => {
  let turns = 0
  const timer = setInterval(() => turns++, 1)
  onTestFinished(() => clearInterval(timer))
  await underWay()
  clearInterval(timer)
  return turns
}

const pieces = async (count: number): Promise<void> => {
  for (let n = 0; n < count; n++) {
    await breathe()
    work(10)
  }
}

test('timers have their turns while one works on, piece by piece', async () => {
  expect(await turnsDuring(() => pieces(60))).toBeGreaterThan(10)
})

test('who waits for a turn has it together with whoever else does', async () => {
  await breathe()
  work(30)
  let turn = 0
  const count = () => {
    turn++
    if (turn < 10) setImmediate(count)
  }
  setImmediate(count)
  const turns = await Promise.all(Array.from({ length: 40 }, () => breathe().then(() => turn)))
  expect(new Set(turns).size).toBe(1)
  expect(turns[0]).toBeGreaterThan(0)
})

test('little work goes on at once', async () => {
  const turns = await turnsDuring(async () => {
    for (let n = 0; n < 1_000; n++) await breathe()
  })
  expect(turns).toBeLessThan(10)
})
