import { defineConfig } from 'vitest/config'
import { SLOW, settings } from './vitest.config.ts'

/** Tests that take minutes because they start and kill processes, and thousands of fuzzed requests: `npm run test:slow`. */
export default defineConfig({
  test: {
    ...settings,
    globalSetup: ['test/setup.ts'],
    include: [
      ...SLOW,
      'test/read-api/fuzz.e2e.test.ts',
      'test/jobs/projections.int.test.ts',
      'test/read-api/webhooks/kills.int.test.ts',
    ],
    env: { ...settings.env, FUZZ_RUNS: '20', HISTORIES: '2', WEBHOOK_KILLS: '50' },
    testTimeout: 300_000,
  },
})
