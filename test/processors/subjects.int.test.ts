import { afterAll, beforeAll, expect, test } from 'vitest'
import { SUBJECTS } from '../../processors/knowledge/known-contracts.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await createPostgres()
})
afterAll(() => postgres?.drop())

// A type that the index leaves out makes every start read the whole history.
test('the index of what a processor must know at start has all of its types', async () => {
  const { rows } = await postgres.pool.query<{ definition: string }>(
    `SELECT indexdef AS definition FROM pg_indexes WHERE indexname = 'event_log_subjects'`,
  )
  const indexed = [...(rows[0]?.definition ?? '').matchAll(/'(\w+)'/g)].map(([, type]) => type)
  expect(indexed.sort()).toEqual([...SUBJECTS, 'BlockRetracted'].sort())
})
