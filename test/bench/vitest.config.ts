import { defineConfig } from 'vitest/config'
import tests from '../vitest.config.js'

/** Measurements: `npm run bench:follow`. They print figures, and fail only when something does not work at all. */
export default defineConfig({
  ...tests,
  test: { ...tests.test, include: ['test/bench/**/*.bench.ts'], testTimeout: 300_000 },
})
