import { afterAll, beforeAll, expect, it } from 'vitest'
import { listDeadLetters } from '../../db/status.ts'
import { networks } from '../../processors/chains.ts'
import type { DeadLetter } from '../../processors/handling/block.ts'
import { DeadLetterBox } from '../../processors/handling/dead-letters.ts'
import { createPostgres, type TestPostgres } from '../databases.ts'

const [LOUD, QUIET] = [`0x${'a1'.repeat(20)}`, `0x${'b2'.repeat(20)}`]
const DAY = 86_400
const hashOf = (height: number) => `0x${height.toString(16).padStart(64, '0')}`

let postgres: TestPostgres
beforeAll(async () => {
  postgres = await createPostgres()
})
afterAll(() => postgres?.drop())

/** As of a Transfer of ERC-721, whose id is a topic. */
const letter = (contract: string, logIndex: number, day: number): DeadLetter => ({
  stage: 'decode',
  block: { number: day, hash: hashOf(day), timestamp: day * DAY + 1 },
  contract,
  reason: 'shape: 4 topics and 0 bytes are no Transfer(address,address,uint256)',
  log: { address: contract, topics: ['0xdd'], data: '0x', logIndex, transactionHash: hashOf(logIndex) },
})

it('keeps ten letters of a contract and day whole, and counts the others in one', async () => {
  const box = new DeadLetterBox(postgres.pool, networks.mainnet)
  const flood = (day: number) => Array.from({ length: 500 }, (_, i) => letter(LOUD, i, day))
  const perBlock = [...flood(20_000), letter(QUIET, 900, 20_000)]
  await box.keep(perBlock)
  await box.keep(flood(20_001))
  const rows = await listDeadLetters(postgres.pool, { limit: 1000 })
  const of = (contract: string) => rows.filter(row => row.contract === contract)
  expect(of(QUIET).map(({ log_index, attempts }) => [log_index, attempts])).toEqual([[900, 1]])
  for (const [day, date] of [
    [20_000, '2024-10-04'],
    [20_001, '2024-10-05'],
  ] as const) {
    const kept = of(LOUD).filter(row => row.block_number === day && row.log_index !== null)
    expect(kept.map(row => row.log_index).sort((a, b) => Number(a) - Number(b))).toEqual([
      0, 1, 2, 3, 4, 5, 6, 7, 8, 9,
    ])
    const counted = of(LOUD).filter(row => row.log_index === null && row.reason.includes(date))
    expect(counted.map(({ attempts }) => attempts)).toEqual([490])
  }
  expect(rows).toHaveLength(2 * 11 + 1)
})

it('a batch that is handled again counts the letters that were kept as the same', async () => {
  const box = new DeadLetterBox(postgres.pool, networks.base)
  const few = [letter(LOUD, 1, 30_000), letter(LOUD, 2, 30_000)]
  await box.keep(few)
  await box.keep(few)
  const rows = await listDeadLetters(postgres.pool, { stream: networks.base.chainId, limit: 10 })
  expect(rows.map(({ attempts }) => attempts)).toEqual([2, 2])
})
