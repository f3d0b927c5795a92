import { expect, inject, test } from 'vitest'
import { runCheck } from './check.ts'
import { suite } from './suite.ts'

const SEED = 20_261
const servers = { databaseUrl: inject('postgresUrl'), clickhouseUrl: inject('clickhouseUrl') }

// Each three times, with outages of their real length: `npm run test:faults`.
test.each(suite.filter(({ isQuick }) => isQuick).map(check => [check.name, check] as const))(
  '%s',
  async (_, check) => {
    const { passed, note } = await runCheck(
      check,
      { servers, seconds: real => real / 10, soakSeconds: 60 },
      SEED,
    )
    expect(passed, note).toBe(true)
  },
  900_000,
)

test('names every check once', () => {
  const names = suite.map(({ name }) => name)
  expect(new Set(names).size).toBe(names.length)
})
