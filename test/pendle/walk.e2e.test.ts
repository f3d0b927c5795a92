import { expect, test } from 'vitest'
import { walk } from './walk.ts'

/** WALK_STEPS=500 walks for half an hour or so. */
const STEPS = Number(process.env['WALK_STEPS'] ?? 24)

test('users wander over the markets, and every answer is what the contracts say', {
  timeout: 25_000 * STEPS,
}, async () => {
  const walked = await walk({ steps: STEPS, every: 3, seed: Number(process.env['TEST_SEED'] ?? 7) })
  expect(walked.values).toBeGreaterThan(150)
  expect(walked.oracle).toBeGreaterThan(5)
  expect(walked.forks).toBeGreaterThan(0)
})
