import { afterAll, beforeAll, expect, test } from 'vitest'
import { registerStream } from '../../db/events/event-store.ts'
import { retireChain } from '../../db/events/retire.ts'
import { choose } from '../../jobs/choose.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await createPostgres()
  await registerStream(postgres.pool, 1, 'mainnet', 'evm')
  await registerStream(postgres.pool, 8453, 'base', 'evm')
})
afterAll(() => postgres?.drop())

const names = async (options: { projection?: string; chain?: string }) => {
  const { projections, streams } = await choose(postgres.pool, options)
  return [projections.map(({ name }) => name), streams.map(({ name }) => name)]
}

test('a projection goes by its own name and by those of the tables made with it', async () => {
  expect(await names({ projection: 'balance', chain: 'base' })).toEqual([['balance'], ['base']])
  expect(await names({ projection: 'holder' })).toEqual([['balance'], ['mainnet', 'base']])
  await expect(names({ projection: 'event' })).rejects.toThrow(/No projection event\. There are: .*balance/)
  await expect(names({ chain: 'optimism' })).rejects.toThrow(/Nothing is stored of optimism/)
})

test('a chain is not retired while its processor runs, and not one of which nothing is stored', async () => {
  const processor = await postgres.pool.connect()
  await processor.query(`SELECT pg_advisory_lock(hashtext('vaultlog writer'), 8453)`)
  await expect(retireChain(postgres.pool, 8453, 'base')).rejects.toThrow(/Another processor of base/)
  processor.release(true)
  await expect.poll(() => retireChain(postgres.pool, 8453, 'base').catch(() => 'refused')).toBeUndefined()
  await expect(retireChain(postgres.pool, 10, 'optimism')).rejects.toThrow('Nothing is stored of optimism.')
})
