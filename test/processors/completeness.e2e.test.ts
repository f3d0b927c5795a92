import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { networks } from '../../db/networks.ts'
import { inTransaction } from '../../db/postgres.ts'
import { openCompleteness } from '../../processors/checking/recheck.ts'
import { compareRange } from '../../processors/knowledge/completeness.ts'
import { vaultlog } from '../faults/command.ts'
import { type SmallChain, startSmallChain } from '../faults/small-chain.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'

const FINALITY = 5
const MORPHO = '0xbbbbbbbbbb9cc5e90e3b3af64bdaf62c37eeffcb'

let chain: SmallChain
let pipeline: Pipeline
beforeAll(async () => {
  chain = await startSmallChain(4711)
  await chain.live(20)
})
afterAll(() => chain?.node.stop())
beforeEach(async () => {
  pipeline = await createPipeline()
  return () => pipeline.drop()
})

const index = async (startBlock?: number) =>
  pipeline.indexTo((await chain.node.head()).number, {
    rpcUrl: chain.node.rpcUrl,
    finality: FINALITY,
    ...(startBlock === undefined ? {} : { startBlock }),
  })

async function differences(): Promise<string[]> {
  const options = await openCompleteness(pipeline.postgres.pool, networks.mainnet, [chain.node.rpcUrl], {
    CONTRACTS_FILE: undefined,
  })
  return (await compareRange(options, 0, (await chain.node.head()).number - FINALITY)).differences
}

const ask = (...args: string[]) => vaultlog({ ...process.env, DATABASE_URL: pipeline.postgres.url }, ...args)

describe('a comparison of the store with the chain', () => {
  test.each([
    ['the block’s time', 'block_time = block_time + 1'],
    ['the transaction', `tx_hash = decode(repeat('ab', 32), 'hex')`],
    ['the block', `block_hash = decode(repeat('cd', 32), 'hex')`],
  ])('names %s where it is another one', async (what, change) => {
    await index()
    expect(await differences()).toEqual([])
    const { rows } = await inTransaction(pipeline.postgres.pool, async tx => {
      // What the owner of the tables can do, and nobody else.
      await tx.query('ALTER TABLE event_log DISABLE TRIGGER event_log_append_only')
      const updated = await tx.query<{ block: number; index: number }>(
        `UPDATE event_log SET ${change} WHERE position = (SELECT min(position) FROM event_log WHERE type = 'Deposited')
         RETURNING block_number AS block, log_index AS index`,
      )
      await tx.query('ALTER TABLE event_log ENABLE TRIGGER event_log_append_only')
      return updated
    })
    const [changed] = rows
    expect(await differences()).toEqual([
      expect.stringMatching(
        new RegExp(
          `^Deposited of .* at block ${changed?.block}, log ${changed?.index}: ${what} is .* in the store, `,
        ),
      ),
    ])
  })

  test('is not made with a node of another chain', async () => {
    await index()
    const { pool } = pipeline.postgres
    const rpcUrls = [chain.node.rpcUrl]
    await expect(
      openCompleteness(pool, networks.base, rpcUrls, { CONTRACTS_FILE: undefined }),
    ).rejects.toThrow('The node of base says eth_chainId 1; base is 8453. Nothing was compared')
  })
})

describe('the first block', () => {
  test('is refused where it was lowered below what is stored, until that is taken back', async () => {
    await index(15)
    const run = pipeline.follow({ rpcUrl: chain.node.rpcUrl, finality: FINALITY, startBlock: 3 })
    await expect(run.reached(1_000_000)).rejects.toThrow(
      /START_BLOCK_MAINNET is 3, .* begins at block 15: .*--to 2`/,
    )
    await index()
    const said = await ask('rewind', 'mainnet', '--to', '2')
    expect(said.code, said.stderr).toBe(0)
    await index(3)
    const all = await createPipeline()
    try {
      await all.indexTo((await chain.node.head()).number, { rpcUrl: chain.node.rpcUrl, finality: FINALITY })
      const sum = async (of: Pipeline) =>
        (
          await of.postgres.pool.query<{ number: number; type: string }>(
            `SELECT block_number AS number, type FROM event_log e WHERE type IN ('Deposited', 'Redeemed', 'ShareTransferred')
             AND NOT EXISTS (SELECT FROM event_log r WHERE r.type = 'BlockRetracted'
               AND e.position BETWEEN (r.data->>'fromPosition')::bigint AND (r.data->>'toPosition')::bigint)
             ORDER BY block_number, log_index`,
          )
        ).rows
      expect(await sum(pipeline)).toEqual(await sum(all))
    } finally {
      await all.drop()
    }
  })

  test('is that of the first deployment which the registry names, where nothing else is said', async () => {
    const { number } = await chain.node.head()
    await chain.node.client.request({ method: 'anvil_setCode', params: [MORPHO, '0x00'] } as never)
    await chain.live(12)
    await index()
    const { rows } = await pipeline.postgres.pool.query<{ first: number }>(
      'SELECT DISTINCT from_block AS first FROM watched_source WHERE NOT learned',
    )
    expect(rows).toEqual([{ first: number }])
    await chain.node.client.request({ method: 'anvil_setCode', params: [MORPHO, '0x'] } as never)
  })
})

describe('the block that a stored chain and a forked one have in common', () => {
  test('is found by hashes, and rewound to', { timeout: 600_000 }, async () => {
    await index(0)
    expect((await ask('common-block', 'mainnet', '--rpc', chain.node.rpcUrl)).stdout).toContain(
      'All stored blocks are the chain',
    )
    const head = (await chain.node.head()).number
    const common = head - FINALITY - 4
    await chain.node.rollback(head - common)
    await chain.live(FINALITY + 8, 660)
    const found = await ask('common-block', 'mainnet', '--rpc', chain.node.rpcUrl)
    expect(found.code, found.stderr).toBe(1)
    expect(found.stdout).toContain(
      `${common} is the newest stored block that the chain has; ${common + 1} is`,
    )
    const said = await ask('rewind', 'mainnet', '--to', 'common', '--rpc', chain.node.rpcUrl)
    expect(said.code, said.stderr).toBe(0)
    await index(0)
    expect(await differences()).toEqual([])
  })
})
