import { expect, test } from 'vitest'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { createPostgres } from '../databases.ts'
import { GeneratedChain } from '../faults/chain/generated-chain.ts'
import { type NodeFaults, startFaultyNode } from '../faults/chain/rpc-server.ts'
import { follower } from '../pipeline.ts'

const FINALITY = 10

/** What is stored of blocks that came one by one, several at once and instead of others, while the node has these faults. */
async function live(faults: NodeFaults) {
  const chain = new GeneratedChain({ seed: 21, chainId: 1 })
  const vault = chain.addVault()
  const person = chain.people[0] ?? ''
  chain.live(5)
  chain.mineEmpty(2 * FINALITY)
  const node = await startFaultyNode(chain)
  const postgres = await createPostgres()
  const run = follower(
    postgres.pool,
    await loadProtocols(),
  )({ rpcUrl: node.url, finality: FINALITY, contracts: { 'chainlink-feed': [] } })
  const newest = async () => {
    const { rows } = await postgres.pool.query<{ hash: string }>(
      `SELECT hash FROM hot_block WHERE stream = 1 ORDER BY height DESC LIMIT 1`,
    )
    return rows[0]?.hash
  }
  const stored = () => expect.poll(newest, { timeout: 60_000 }).toBe(chain.head.hash)
  try {
    await run.reached(chain.head.number)
    node.faults = faults
    const before = node.requests.length
    for (let i = 0; i < 3; i++) {
      chain.live(1)
      await stored()
    }
    chain.live(4)
    await stored()
    // Discovered at the head; what comes with it counts, and what comes after it.
    const late = chain.addVault()
    chain.mine([chain.deposit(late, person, 10n ** 18n), chain.deposit(vault, person, 10n ** 18n)])
    await stored()
    chain.mine([chain.deposit(late, person, 10n ** 18n)])
    await stored()
    chain.reorg(2, 3)
    await stored()
    const { rows } = await postgres.pool.query<Record<string, unknown>>(
      `SELECT type, block_number, encode(block_hash, 'hex') AS block, encode(tx_hash, 'hex') AS tx, log_index,
         encode(contract, 'hex') AS contract, data FROM stored_events(1, 0, 9007199254740991)
       ORDER BY block_number, block_hash, type, contract, log_index, data::text`,
    )
    const methods = node.requests.slice(before).flatMap(request => request.methods)
    return { events: rows, methods }
  } finally {
    await run.stop()
    await node.stop()
    await postgres.drop()
  }
}

test('a node that gives logs of named contracts or topics alone, or of contracts alone, or no blocks at times, brings what an honest one does', async () => {
  const honest = await live({})
  expect(honest.events.filter(({ type }) => type === 'VaultDiscovered').length).toBeGreaterThan(0)
  const picky = await live({ needsFilter: 'contracts or topics' })
  expect(picky.events).toEqual(honest.events)
  const pickier = await live({ needsFilter: 'contracts' })
  expect(pickier.events).toEqual(honest.events)
  const broken = await live({ nullBlocks: 0.3 })
  expect(broken.events).toEqual(honest.events)
  // Of a deposit the transaction is asked for, and not the whole block.
  expect(honest.methods).toContain('eth_getTransactionByHash')
})
