import { expect, test } from 'vitest'
import { registry } from '../../db/process/metrics.ts'
import { readStatus } from '../../db/status.ts'
import { statusTable } from '../../jobs/watch.ts'
import { loadProtocols } from '../../processors/load-protocols.ts'
import { createPostgres } from '../databases.ts'
import { GeneratedChain } from '../faults/chain/generated-chain.ts'
import { startFaultyNode } from '../faults/chain/rpc-server.ts'
import { follower } from '../pipeline.ts'

/** Of the vaults' state, which is what is asked again. */
const CALLS = /eth_call/

async function results(): Promise<Record<string, number>> {
  const found = await registry.getSingleMetric('vaultlog_cross_checks_total')?.get()
  return Object.fromEntries(
    (found?.values ?? []).map(({ labels, value }) => [String(labels['result']), value]),
  )
}

/** Indexes a chain by one node, with another one beside it; gives the letters of the comparison and what each was asked. */
async function index(lies: boolean) {
  const chain = new GeneratedChain({ seed: 11, chainId: 1 })
  for (let i = 0; i < 12; i++) chain.addVault()
  chain.live(400)
  const [first, second] = [await startFaultyNode(chain), await startFaultyNode(chain)]
  second.faults = { lies }
  const postgres = await createPostgres()
  const before = await results()
  const compared = async () => {
    const now = await results()
    return (now['equal'] ?? 0) + (now['different'] ?? 0) - (before['equal'] ?? 0) - (before['different'] ?? 0)
  }
  const run = follower(
    postgres.pool,
    await loadProtocols(),
  )({
    rpcUrl: first.url,
    rpcUrls: [first.url, second.url],
    finality: 5,
    contracts: { 'chainlink-feed': [] },
    crossCheckMs: 1,
  })
  try {
    await run.reached(chain.head.number)
    await expect.poll(compared, { timeout: 60_000 }).toBeGreaterThan(5)
    await run.stop()
    const { rows } = await postgres.pool.query<{ stage: string; contract: string; reason: string }>(
      `SELECT stage, contract, reason FROM dead_letter WHERE stream = 1 AND stage = 'cross_check' ORDER BY contract, reason`,
    )
    const { rows: events } = await postgres.pool.query(
      `SELECT type, block_number, contract, data FROM stored_events(1, 0, 9007199254740991) ORDER BY block_number, type, contract, data::text`,
    )
    const streams = await readStatus(postgres.pool)
    const calls = (node: typeof first) =>
      node.requests.flatMap(({ methods }) => methods).filter(method => CALLS.test(method)).length
    return { chain, letters: rows, events, streams, share: calls(second) / calls(first) }
  } finally {
    await postgres.drop()
    await first.stop()
    await second.stop()
  }
}

test('a part of what is sampled is asked of another node: what differs is a dead letter, and stops nothing', async () => {
  const honest = await index(false)
  expect(honest.letters).toEqual([])
  const lying = await index(true)
  expect(lying.events).toEqual(honest.events)
  expect(lying.letters.length).toBeGreaterThan(0)
  for (const { contract, reason } of lying.letters) {
    expect(reason).toMatch(/^Two endpoints differ in what 0x[0-9a-f]{8} of this contract answers: /)
    expect(lying.chain.vaults.flatMap(({ address, asset }) => [address, asset])).toContain(contract)
  }
  const table = statusTable({ at: 0, streams: lying.streams, fault: undefined })
  expect(table).toMatch(/mainnet: in \d+ state reads? another endpoint of RPC_<NETWORK> says something else/)
  expect(statusTable({ at: 0, streams: honest.streams, fault: undefined })).not.toContain('another endpoint')
  // One in a hundred contracts and blocks; where it lies, three times.
  expect(honest.share).toBeLessThan(0.04)
  expect(honest.share).toBeGreaterThan(0)
})
