import { afterAll, beforeAll, expect, it } from 'vitest'
import { type NewDeadLetter, storeDeadLetters } from '../../db/dead-letters.ts'
import { listDeadLetters } from '../../db/status.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await createPostgres()
})
afterAll(() => postgres?.drop())

const letter = (contract: string, more: Partial<NewDeadLetter> = {}): NewDeadLetter => ({
  stage: 'sample',
  stream: 1,
  contract,
  reason: 'no such account',
  payload: { of: contract },
  ...more,
})

it('keeps one letter of those that are the same in one call, with the last payload', async () => {
  await storeDeadLetters(postgres.pool, [
    letter('0xa', { attempts: 3 }),
    letter('0xb'),
    letter('0xa', { hash: '', payload: { last: true } }),
    letter('0xa', { reason: 'another' }),
  ])
  const rows = await listDeadLetters(postgres.pool, { stream: 1, limit: 10 })
  expect(
    rows.map(({ contract, reason, attempts, payload }) => [contract, reason, attempts, payload]).sort(),
  ).toEqual([
    ['0xa', 'another', 1, { of: '0xa' }],
    ['0xa', 'no such account', 4, { last: true }],
    ['0xb', 'no such account', 1, { of: '0xb' }],
  ])
})

it('lets two that keep the same letters at a time wait for each other', async () => {
  const list = Array.from({ length: 500 }, (_, i) => letter(`0x${i}`, { stream: 2 }))
  const rounds = 20
  await Promise.all(
    [list, list.toReversed()].map(async letters => {
      for (let round = 0; round < rounds; round++) await storeDeadLetters(postgres.pool, letters)
    }),
  )
  const rows = await listDeadLetters(postgres.pool, { stream: 2, limit: 1_000 })
  expect(rows.map(({ attempts }) => attempts)).toEqual(list.map(() => 2 * rounds))
})
