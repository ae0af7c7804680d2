/** The README's recipes are the ones that are tested, and its token is a good one. */
import { execFileSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { jwtAuth } from '../../src/http/identity/jwt.js'
import { bearer, SECRET } from '../support/tokens.js'

const recipes = new URL('./recipes/', import.meta.url)
const readme = readFileSync(new URL('../../README.md', import.meta.url), 'utf8')

test.each(readdirSync(recipes))('the README has %s as it is', (file) => {
  expect(readme).toContain(readFileSync(new URL(file, recipes), 'utf8').trim())
})

test('the README makes a token that is good for one workspace', async () => {
  const script = /node --input-type=module -e "([^"]+)"/.exec(readme)?.[1] ?? ''
  const env = { ...process.env, JWT_SECRET: SECRET }
  const token = execFileSync(process.execPath, ['--input-type=module', '-e', script], { env })
    .toString()
    .trim()
  const caller = await jwtAuth({ secret: SECRET })(new Request('http://g/', { headers: bearer(token) }), {})
  expect(caller).toMatchObject({ tenantId: 'acme', actor: { kind: 'user', id: 'ann' }, workspaces: ['demo'] })
})
