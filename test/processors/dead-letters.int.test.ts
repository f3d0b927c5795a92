import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { networks } from '../../db/networks.ts'
import { log } from '../../db/process/log.ts'
import { listDeadLetters, resolveDeadLetters } from '../../db/status.ts'
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
  const warned = vi.spyOn(log, 'warn')
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
  // The log has a line of each contract.
  expect(warned.mock.calls.map(([words]) => (words as unknown as DeadLetter).contract)).toEqual([LOUD, QUIET])
})

it('a batch that is handled again counts the letters that were kept as the same', async () => {
  const box = new DeadLetterBox(postgres.pool, networks.base)
  const few = [letter(LOUD, 1, 30_000), letter(LOUD, 2, 30_000)]
  await box.keep(few)
  await box.keep(few)
  const rows = await listDeadLetters(postgres.pool, { stream: networks.base.chainId, limit: 10 })
  expect(rows.map(({ attempts }) => attempts)).toEqual([2, 2])
})

it('keeps a thousand letters of a day whole, however many contracts they are of', async () => {
  const box = new DeadLetterBox(postgres.pool, networks.optimism)
  const contract = (i: number) => `0x${i.toString(16).padStart(40, '0')}`
  for (let from = 0; from < 3_000; from += 500)
    await box.keep(Array.from({ length: 500 }, (_, i) => letter(contract(from + i), i, 40_000)))
  const stream = networks.optimism.chainId
  const { rows } = await postgres.pool.query(
    'SELECT contract, attempts FROM dead_letter WHERE stream = $1 AND log_index IS NULL',
    [stream],
  )
  expect(rows).toEqual([{ contract: '', attempts: 2_000 }])
  const { rows: whole } = await postgres.pool.query(
    'SELECT count(*)::int AS n FROM dead_letter WHERE stream = $1 AND log_index IS NOT NULL',
    [stream],
  )
  expect(whole).toEqual([{ n: 1_000 }])
})

it('and a thousand of a day, where they are of more contracts than are remembered', async () => {
  const box = new DeadLetterBox(postgres.pool, networks.gnosis)
  const contract = (i: number) => `0x${i.toString(16).padStart(40, '0')}`
  await box.keep(Array.from({ length: 12_000 }, (_, i) => letter(contract(i), i, 40_000)))
  const { rows } = await postgres.pool.query(
    'SELECT count(*)::int AS n, sum(attempts)::int AS met FROM dead_letter WHERE stream = $1',
    [networks.gnosis.chainId],
  )
  expect(rows).toEqual([{ n: 1_001, met: 12_000 }])
})

it('a reason that quotes what Postgres takes in no text is kept without it', async () => {
  const box = new DeadLetterBox(postgres.pool, networks.polygon)
  const reasons = ['symbol a\0b', 'symbol ab', `cut amid a pair ${'😀'.slice(0, 1)}`]
  await box.keep(reasons.map(reason => ({ ...letter(LOUD, 1, 50_000), reason })))
  const rows = await listDeadLetters(postgres.pool, { stream: networks.polygon.chainId, limit: 10 })
  expect(rows.map(({ reason, attempts }) => [reason, attempts]).sort()).toEqual([
    ['cut amid a pair \ufffd', 1],
    ['symbol ab', 2],
  ])
})

it('a letter that was resolved is open again where it is met again', async () => {
  const box = new DeadLetterBox(postgres.pool, networks.arbitrum)
  await box.keep([letter(LOUD, 1, 50_000)])
  const open = () => listDeadLetters(postgres.pool, { stream: networks.arbitrum.chainId, limit: 10 })
  const [first] = await open()
  await resolveDeadLetters(postgres.pool, [first?.id ?? -1])
  expect(await open()).toEqual([])
  await box.keep([letter(LOUD, 1, 50_000)])
  expect((await open()).map(({ id, attempts }) => [id, attempts])).toEqual([[first?.id, 2]])
})

it('keeps the beginning of data that is long: a day of letters of a megabyte each stops nobody', async () => {
  const box = new DeadLetterBox(postgres.pool, networks.arbitrum)
  const contract = (i: number) => `0x${(i % 60).toString(16).padStart(40, 'c')}`
  const data = `0x${'7f'.repeat(1_000_000)}`
  await box.keep(
    Array.from({ length: 600 }, (_, i) => {
      const { log: raw, ...rest } = letter(contract(i), i, 60_000)
      return raw ? { ...rest, log: { ...raw, data } } : rest
    }),
  )
  const { rows } = await postgres.pool.query(
    `SELECT count(*)::int AS n, max(length(payload->>'data')) AS longest, min(payload->>'bytes') AS bytes
     FROM dead_letter WHERE stream = $1 AND block_number = 60000`,
    [networks.arbitrum.chainId],
  )
  expect(rows).toEqual([{ n: 600, longest: 2 + 2 * 4_096, bytes: '1000000' }])
})
