import { defineConfig } from 'vitest/config'
import tests from '../vitest.config.js'

/** A long run of random requests: `npm run fuzz`. A short one is among the tests. */
export default defineConfig({
  ...tests,
  test: { ...tests.test, include: ['test/fuzz/**/*.fuzz.ts'], testTimeout: 3_600_000 },
})
