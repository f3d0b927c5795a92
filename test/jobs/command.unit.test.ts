import { describe, expect, test } from 'vitest'
import { integer } from '../../jobs/command.ts'
import { vaultlog } from '../faults/command.ts'

describe('numbers of a command', () => {
  test('are digits and nothing else', () => {
    expect(['0', '7', '022000000'].map(integer)).toEqual([0, 7, 22_000_000])
    for (const value of ['', ' ', '-1', '1.5', '1e3', '0x10', '9007199254740993', 'Infinity'])
      expect(() => integer(value), value).toThrow(/whole number/)
  })

  test.each([
    [['rewind', 'base', '--to', '']],
    [['deadletters', 'resolve', '7', '']],
    [['plans', 'set', 'free', '', '60']],
  ])('what is none is refused before any database is asked: %j', async args => {
    // Nothing listens there: a command that went on would say so.
    const nowhere = { DATABASE_URL: 'postgres://127.0.0.1:1/x', CLICKHOUSE_URL: 'http://127.0.0.1:1' }
    const { code, stderr } = await vaultlog(nowhere, ...args)
    expect(code).toBe(1)
    expect(stderr).toMatch(/'' is invalid.* must be a whole number of 0 or more/)
  })
})
