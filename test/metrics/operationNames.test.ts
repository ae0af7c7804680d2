/** Which names of operations are counted by, since clients choose them. */
import { expect, test } from 'vitest'
import { OperationNames } from '../../src/metrics/operationNames.js'

const nothing = () => []

test('a name is a label of its own, and an operation without one is anonymous', () => {
  const names = new OperationNames()
  expect(names.labelOf('PostMessage', nothing)).toBe('PostMessage')
  expect(names.labelOf(undefined, nothing)).toBe('anonymous')
})

test.each(['thread_4711', 'm1', 'f81d4fae', `${'x'.repeat(65)}`])(
  'a name that may be an id is no label: %s',
  (name) => {
    expect(new OperationNames().labelOf(name, nothing)).toBe('other')
  },
)

test.each([
  ['alice', 'alice'],
  ['PostBy_alice', 'alice'],
  ['a', 'a'],
])('a name that holds a text of its request is no label: %s', (name, text) => {
  expect(new OperationNames().labelOf(name, () => ['w', text])).toBe('other')
})

test('short texts do not stand in the way of names that happen to hold them', () => {
  expect(new OperationNames().labelOf('ReadThread', () => ['R', 'ea', 'w1'])).toBe('ReadThread')
})

test('a hundred names are told apart, and then no more', () => {
  const names = new OperationNames()
  const letters = 'abcdefghijklmnopqrstuvwxyz'
  const all = [...letters].flatMap((one) =>
    [...letters].map((two) => names.labelOf(`Q_${one}${two}`, nothing)),
  )
  expect(new Set(all).size).toBe(101)
  expect(names.labelOf('Q_aa', nothing)).toBe('Q_aa')
  expect(names.labelOf('Late', nothing)).toBe('other')
})
