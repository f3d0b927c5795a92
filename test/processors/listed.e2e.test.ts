import { afterAll, beforeAll, expect, it } from 'vitest'
import { deployVault, deposit } from '../chain/deploy.ts'
import { type Node, startNode } from '../chain/node.ts'
import { createPipeline, type Pipeline } from '../pipeline.ts'
import { startRpcProxy } from '../read-api/chain/rpc-proxy.ts'

let node: Node
let pipeline: Pipeline

beforeAll(async () => {
  node = await startNode()
  pipeline = await createPipeline()
})
afterAll(async () => {
  await pipeline?.drop()
  await node?.stop()
})

it('looks at listed vaults without waiting for an event of theirs', async () => {
  const quiet = await deployVault(node, { symbol: 'QUIET' })
  const busy = await deployVault(node, { symbol: 'BUSY' })
  const unborn = `0x${'ee'.repeat(20)}`
  const user = node.accounts[1] ?? quiet.address
  // On the way up from the genesis nothing of them is there yet.
  await pipeline.indexTo((await node.head()).number, { rpcUrl: node.rpcUrl })
  for (let round = 0; round < 2; round++) {
    await deposit(node, { vault: busy, user, assets: 10n ** 18n })
    const { number } = await node.head()
    await pipeline.indexTo(number, { rpcUrl: node.rpcUrl, listedVaults: [quiet.address, unborn] })
  }
  const contractsOf = async (type: string) => {
    const { rows } = await pipeline.postgres.pool.query<{ address: string }>(
      "SELECT DISTINCT '0x' || encode(contract, 'hex') AS address FROM event_log WHERE type = $1 ORDER BY 1",
      [type],
    )
    return rows.map(({ address }) => address)
  }
  const expected = [busy.address, quiet.address].sort()
  expect(await contractsOf('VaultDiscovered')).toEqual(expected)
  expect(await contractsOf('StateSampled')).toEqual(expected)
  // A listed address without a vault leaves no verdict: its own events may bring it up later.
  const { rows } = await pipeline.postgres.pool.query("SELECT 1 FROM event_log WHERE type = 'VaultRejected'")
  expect(rows).toEqual([])
})

it('asks of hundreds of listed contracts that do not exist yet in a few requests a batch', async () => {
  const { number } = await node.head()
  const unborn = Array.from(
    { length: 300 },
    (_, i) => `0x${(i + 1).toString(16).padStart(4, '0').repeat(10)}`,
  )
  const requestsWith = async (listedVaults: string[]) => {
    const proxy = await startRpcProxy(node.rpcUrl)
    const fresh = await createPipeline()
    try {
      await fresh.indexTo(number, { rpcUrl: proxy.url, listedVaults })
      // How often the head is asked for depends on how long it takes.
      return proxy.asked.filter(methods => methods.some(method => /^eth_(call|getCode)$/.test(method))).length
    } finally {
      await fresh.drop()
      await proxy.stop()
    }
  }
  // 300 in batches of 100, with the few more that a run may differ by.
  const more = (await requestsWith(unborn)) - (await requestsWith([]))
  expect(more).toBeGreaterThan(0)
  expect(more).toBeLessThan(30)
})
