import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Node, startNode } from './chain/node.ts'
import { runScenario, type Scenario } from './chain/scenario.ts'
import { balancesOf, vaultViews } from './chain/views.ts'
import { createPipeline, type Pipeline, scenarioContracts } from './pipeline.ts'

describe('a scenario of 40 days through the whole pipeline', () => {
  let node: Node
  let scenario: Scenario
  let pipeline: Pipeline
  let head: number

  beforeAll(async () => {
    node = await startNode()
    scenario = await runScenario(node, { days: 40 })
    head = (await node.head()).number
    pipeline = await createPipeline()
    await pipeline.indexTo(head, { rpcUrl: node.rpcUrl, contracts: scenarioContracts(scenario) })
    await pipeline.project()
  })
  afterAll(async () => {
    await pipeline?.drop()
    await node?.stop()
  })

  test('every vault is discovered, and what only looks like one is not', async () => {
    const vaults = await pipeline.rows<{ vault: string }>('SELECT vault FROM vault')
    expect(vaults.map(({ vault }) => vault).sort()).toEqual(
      scenario.vaults.map(({ address }) => address).sort(),
    )
  })

  test('balances of every holder at every checkpoint are those of the contracts', async () => {
    const expected: Record<string, string> = {}
    const found: Record<string, string> = {}
    for (const { block, timestamp } of scenario.checkpoints) {
      for (const vault of scenario.vaults) {
        if (vault.deployedBlock > block) continue
        for (const [holder, balance] of await balancesOf(node, vault.address, scenario.holders, block)) {
          if (balance > 0n) expected[`${block} ${vault.symbol} ${holder}`] = balance.toString()
        }
      }
      const rows = await pipeline.rows<{ vault: string; holder: string; balance: string }>(
        `SELECT vault, holder, toString(argMax(balance, position)) AS balance FROM balance
         WHERE timestamp <= {timestamp:DateTime('UTC')} GROUP BY vault, holder HAVING balance != '0'`,
        { timestamp },
      )
      for (const row of rows) {
        const symbol = scenario.vaults.find(({ address }) => address === row.vault)?.symbol
        found[`${block} ${symbol} ${row.holder}`] = row.balance
      }
    }
    expect(Object.keys(expected).length).toBeGreaterThan(100)
    expect(found).toEqual(expected)
  })

  test('samples say what the contracts say at their block', async () => {
    const rows = await pipeline.rows<{
      vault: string
      block: string
      price: string
      assets: string
      supply: string
    }>(
      `SELECT vault, toString(block_number) AS block, toString(share_price_raw) AS price, toString(total_assets) AS assets,
              toString(total_supply) AS supply FROM vault_sample ORDER BY cityHash64(vault, block_number) LIMIT 40`,
    )
    expect(rows).toHaveLength(40)
    for (const row of rows) {
      const vault = scenario.vaults.filter(({ address }) => address === row.vault)
      const [view] = await vaultViews(node, vault, [Number(row.block)])
      expect([row.price, row.assets, row.supply]).toEqual([
        view?.sharePrice.toString(),
        view?.totalAssets.toString(),
        view?.totalSupply.toString(),
      ])
    }
  })

  test('another run of the same chain gives the same rows', async () => {
    const second = await createPipeline()
    try {
      await second.indexTo(head, { rpcUrl: node.rpcUrl, contracts: scenarioContracts(scenario) })
      await second.project()
      expect(await second.visibleSums()).toEqual(await pipeline.visibleSums())
    } finally {
      await second.drop()
    }
  })
})
