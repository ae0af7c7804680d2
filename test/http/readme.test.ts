/** The README's recipes are the ones that are tested. */
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'

const recipes = new URL('./recipes/', import.meta.url)
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

test.each(readdirSync(recipes))('the README has %s as it is', (file) => {
  expect(readme).toContain(readFileSync(new URL(file, recipes), 'utf8').trim())
})
