import { z } from 'zod'
import type { DemoFile } from './demo-facts.ts'
import type { Node } from './node.ts'
import type { Scenario } from './scenario.ts'
import { balancesOf, vaultView } from './views.ts'

const vaultSchema = z.object({
  tvl: z.object({ native: z.string() }),
  holdersData: z.object({ totalBalance: z.string() }),
})
const seriesSchema = z.object({
  data: z.array(z.object({ timestamp: z.number(), blockNumber: z.string(), sharePrice: z.number() })),
})
const balancesSchema = z.object({
  data: z.array(z.object({ address: z.string(), lpToken: z.object({ balanceNative: z.string() }) })),
})

/**
 * Asks the running API for what it serves and the contracts for what is true: current total assets and supply, share
 * prices, and every holder's balance at every checkpoint. Gives the number of differences.
 */
export async function checkDemo(
  node: Node,
  scenario: Scenario,
  file: DemoFile,
  say: (text: string) => void,
): Promise<number> {
  const get = async (path: string): Promise<unknown> => {
    const answer = await fetch(`${file.baseUrl}${path}`, { headers: { 'x-api-key': file.apiKey } })
    if (!answer.ok) throw new TypeError(`${path}: ${answer.status} ${await answer.text()}`)
    return answer.json()
  }
  const wrong: string[] = []
  let compared = 0
  const compare = (what: string, found: unknown, expected: unknown) => {
    compared++
    if (String(found) !== String(expected)) wrong.push(`${what}: API says ${found}, the contract ${expected}`)
  }

  for (const vault of scenario.vaults) {
    const detailed = vaultSchema.parse(await get(`/v2/detailed-vaults/mainnet/${vault.address}`))
    const view = await vaultView(node, vault)
    compare(`${vault.symbol} total supply`, detailed.holdersData.totalBalance, view.totalSupply)
    const series = seriesSchema.parse(
      await get(`/v2/historical/mainnet/${vault.address}/sharePrice?granularity=1day&perPage=400`),
    )
    for (const point of series.data.filter((_, i) => i % 7 === 0 || i === series.data.length - 1)) {
      const then = await vaultView(node, vault, Number(point.blockNumber))
      compare(
        `${vault.symbol} share price at block ${point.blockNumber}`,
        point.sharePrice,
        Number(then.sharePrice) / 10 ** vault.asset.decimals,
      )
    }
  }

  for (const { name, block, timestamp } of scenario.checkpoints) {
    const vaults = scenario.vaults.filter(vault => vault.deployedBlock <= block)
    const expected = new Map<string, Map<string, bigint>>()
    for (const vault of vaults)
      expected.set(vault.address, await balancesOf(node, vault.address, scenario.holders, block))
    for (const holder of scenario.holders) {
      const { data } = balancesSchema.parse(await get(`/alpha/historical-balances/${holder}/${timestamp}`))
      const held = new Map(
        data.map(position => [position.address.toLowerCase(), position.lpToken.balanceNative]),
      )
      for (const vault of vaults) {
        const balance = expected.get(vault.address)?.get(holder) ?? 0n
        compare(
          `${vault.symbol} of ${holder} ${name} (block ${block})`,
          held.get(vault.address) ?? '0',
          balance,
        )
      }
    }
  }
  for (const line of wrong.slice(0, 20)) say(line)
  say(`\n${compared} figures compared with the contracts' own view functions, ${wrong.length} differ.`)
  return wrong.length
}
