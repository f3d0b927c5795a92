import { afterEach, beforeEach, expect, test } from 'vitest'
import { ChainDatabase } from '../../../db/events/chain-database.ts'
import { rewindChain } from '../../../db/events/rewind.ts'
import { readWaiting, type WaitingContract } from '../../../db/events/waiting-contracts.ts'
import { readStatus } from '../../../db/status.ts'
import { statusTable } from '../../../jobs/watch.ts'
import { createPostgres, type TestPostgres } from '../../databases.ts'

const STREAM = 8453
const hash = (height: number, branch = 'a') => `0x${branch.repeat(8)}${String(height).padStart(56, '0')}`
const row = (digit: string, block: number, lookedAt?: number): WaitingContract => ({
  contract: `0x${digit.repeat(40)}`,
  protocol: 'erc4626',
  isMade: false,
  block,
  logIndex: 1,
  lookedAt,
})

let postgres: TestPostgres
let database: ChainDatabase
beforeEach(async () => {
  postgres = await createPostgres()
  database = new ChainDatabase({ pool: postgres.pool, stream: STREAM, name: 'base' })
  await database.connect()
})
afterEach(async () => {
  await database.close()
  await postgres.drop()
})

const waiting = async () =>
  (await readWaiting(postgres.pool, STREAM))
    .map(({ contract, lookedAt }) => `${contract[2]} ${lookedAt ?? 'waits'}`)
    .sort()

async function append(
  height: number,
  rows: WaitingContract[],
  { branch, final = -1 }: { branch?: string; final?: number } = {},
): Promise<void> {
  const ref = (at: number) => (at < 0 ? { height: -1, hash: '0x' } : { height: at, hash: hash(at) })
  await database.transactHot2(
    {
      finalizedHead: ref(final),
      baseHead: ref(height - 1),
      newBlocks: [{ height, hash: hash(height, branch) }],
    },
    async store => store.setWaiting(rows),
  )
}

test('who waits is stored with the blocks, and a fork takes it back: who had a turn above its root waits again', async () => {
  await append(0, [row('1', 0), row('2', 0)])
  await append(1, [row('1', 0, 1), row('3', 1)])
  expect(await waiting()).toEqual(['1 1', '2 waits', '3 waits'])
  const status = await readStatus(postgres.pool)
  expect(status.map(({ waitingContracts }) => waitingContracts)).toEqual([2])
  expect(statusTable({ at: 0, streams: status })).toContain('base: 2 contracts that may be a vault wait')
  await append(1, [], { branch: 'b' })
  expect(await waiting()).toEqual(['1 waits', '2 waits'])
})

test('who had a turn in a final block does not wait any more', async () => {
  await append(0, [row('1', 0), row('2', 0)])
  await append(1, [row('1', 0, 1)])
  await append(2, [row('2', 0, 2)], { final: 1 })
  expect(await waiting()).toEqual(['2 2'])
})

test('a rewind takes it back, too', async () => {
  await append(0, [row('1', 0)])
  await append(1, [row('1', 0, 1), row('2', 1)])
  await database.close()
  await rewindChain(postgres.pool, STREAM, 'base', 0)
  expect(await waiting()).toEqual(['1 waits'])
})

test('contracts that a comparison left out are told by the status', async () => {
  await append(0, [row('1', 0)])
  const compared = (from: number, leftOut: string[]) =>
    postgres.pool.query(
      `INSERT INTO completeness (stream, from_block, to_block, chain_events, chain_checksum, store_events, store_checksum, is_equal, differences, left_out)
       VALUES ($1, $2, $2, 0, '0', 0, '0', true, '[]', $3)`,
      [STREAM, from, leftOut],
    )
  await compared(0, [])
  expect((await readStatus(postgres.pool)).map(({ uncompared }) => uncompared)).toEqual([0])
  await compared(1, [row('1', 0).contract, row('2', 0).contract])
  await compared(2, [row('1', 0).contract])
  const streams = await readStatus(postgres.pool)
  expect(streams.map(({ uncompared }) => uncompared)).toEqual([2])
  expect(statusTable({ at: 0, streams })).toContain('base: 2 contracts were left out')
})
