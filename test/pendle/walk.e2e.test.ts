import { expect, test } from 'vitest'
import { walk } from './walk.ts'

/** WALK_STEPS=500 WALK_EVERY=1 walks for a quarter of an hour or so, and compares after each step. */
const STEPS = Number(process.env['WALK_STEPS'] ?? 24)

test('users wander over the markets, and every answer is what the contracts say', {
  timeout: 25_000 * STEPS,
}, async () => {
  const every = Number(process.env['WALK_EVERY'] ?? 3)
  const walked = await walk({ steps: STEPS, every, seed: Number(process.env['TEST_SEED'] ?? 7) })
  console.info(walked)
  expect(walked.values).toBeGreaterThan(150)
  expect(walked.oracle).toBeGreaterThan(5)
  expect(walked.forks).toBeGreaterThan(0)
})
