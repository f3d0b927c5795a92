import { expect, inject, test } from 'vitest'
import { runCheck } from './check.ts'
import { suite } from './suite.ts'

/** One fault of each kind that a system meets every week; the others are in suite.e2e, and all of them in run.ts. */
const SHORT = [
  'state of 128 blocks only, in invented words',
  'a log that cannot be read is a dead letter, once, and the rest goes on',
  '6 blocks replaced by 3',
  'SIGKILL of the worker in the middle of a commit',
]

const servers = { databaseUrl: inject('postgresUrl'), clickhouseUrl: inject('clickhouseUrl') }

test.each(SHORT)(
  '%s',
  async name => {
    const check = suite.find(each => each.name === name)
    if (!check) return expect.fail(`no check is called so`)
    const { passed, note } = await runCheck(
      check,
      { servers, seconds: real => real / 10, soakSeconds: 60 },
      20_261,
    )
    expect(passed, note).toBe(true)
  },
  300_000,
)
