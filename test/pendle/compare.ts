import request from 'supertest'
import { expect } from 'vitest'
import { z } from 'zod'
import { erc20 } from '../chain/abis.ts'
import type { Node } from '../chain/node.ts'
import type { Pipeline } from '../pipeline.ts'
import type { ApiHarness } from '../read-api/harness.ts'
import { figuresAt, stateAt } from './figures.ts'
import { balanceOf, type VaultMarket } from './world.ts'

const HOUR = 3_600

const amountShape = z.object({ usd: z.string(), native: z.string() })
const marketShape = z.object({
  vaultId: z.string(),
  name: z.string(),
  apy: z.number(),
  expiry: z.number(),
  tvl: amountShape,
  liquidity: amountShape,
})

export interface Compared {
  values: number
  /** Of these, against the oracle at the same block. */
  oracle: number
  /** Greatest difference of apy. */
  apy: number
}

interface Stage {
  node: Node
  api: ApiHarness
  pipeline: Pipeline
}

/** The answers about a market at the head against the contracts at the block of its last state, to the unit. */
export async function compareMarket(stage: Stage, of: VaultMarket, counted: Compared): Promise<void> {
  const { node, api, pipeline } = stage
  const head = await node.head()
  const answer = await request(api.app)
    .get(`/beta/fixed-term/detailed/mainnet/${of.market}`)
    .set('x-api-key', api.apiKey)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  expect(answer.headers['x-as-of-block']).toBe(`mainnet=${head.number}`)
  const shown = marketShape.parse(answer.body)
  const [last] = await pipeline.rows<{ block: number; at: number }>(
    `SELECT toUInt32(argMax(block_number, position)) AS block, toUInt32(argMax(toUnixTimestamp(timestamp), position)) AS at FROM fixed_term_state
     WHERE market = '${of.market}' AND position NOT IN (SELECT position FROM retracted WHERE stream = 1)`,
  )
  const block = last?.block ?? 0
  const logs = block < head.number ? await node.logs({ address: of.market, fromBlock: block + 1 }) : []
  expect(logs, 'logs of the market after its last state').toEqual([])
  if (head.timestamp < of.expiry) expect(head.timestamp - (last?.at ?? 0)).toBeLessThanOrEqual(HOUR + 12)
  const { read, price, liquidity, tvl, apy } = await figuresAt(node, of, block, head.timestamp)
  expect([shown.liquidity.native, shown.tvl.native]).toEqual([`${liquidity}`, `${tvl}`])
  counted.apy = Math.max(counted.apy, Math.abs(shown.apy - apy))
  expect(Math.abs(shown.apy - apy)).toBeLessThan(1e-12)
  counted.values += 3
  const now = await stateAt(node, of, head.number)
  if (now.rate === read.rate && now.index === read.index) {
    expect(price).toBe(now.oracle)
    counted.oracle++
  }
}

/** Pools by their logs alone, and what every account holds of a PT. */
export async function compareLedgers(
  { node, pipeline }: Stage,
  of: VaultMarket,
  accounts: readonly string[],
  counted: Compared,
): Promise<void> {
  const { number } = await node.head()
  const { state } = await stateAt(node, of, number)
  const [pool] = await pipeline.rows<{ pt: string; sy: string }>(
    `SELECT toString(argMax(total_pt, position)) AS pt, toString(argMax(total_sy, position)) AS sy FROM fixed_term_trade
     WHERE market = '${of.market}' AND position NOT IN (SELECT position FROM retracted WHERE stream = 1)`,
  )
  expect([pool?.pt, pool?.sy]).toEqual([`${state.totalPt}`, `${state.totalSy}`])
  const held = new Map(
    (
      await pipeline.rows<{ holder: string; balance: string }>(
        `SELECT holder, toString(balance_raw) AS balance FROM pt_holders WHERE pt = '${of.pt.address}'`,
      )
    ).map(({ holder, balance }) => [holder, BigInt(balance)]),
  )
  for (const account of [...accounts, of.market, of.yt]) {
    const holder = account.toLowerCase() as `0x${string}`
    expect(held.get(holder) ?? 0n, holder).toBe(await balanceOf(node, of.pt.address, holder))
    counted.values++
  }
  const supply = await node.client.readContract({
    address: of.pt.address,
    abi: erc20,
    functionName: 'totalSupply',
  })
  expect([...held.values()].reduce((a, b) => a + b, 0n)).toBe(supply)
  counted.values += 3
}

/** Markets of the list, as addresses in lower case. */
export async function listed(api: ApiHarness, query: object = {}): Promise<string[]> {
  const answer = await request(api.app)
    .get('/beta/fixed-term')
    .query({ perPage: '100', ...query })
    .set('x-api-key', api.apiKey)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return z
    .array(marketShape)
    .parse(answer.body.data)
    .map(({ vaultId }) => vaultId.toLowerCase())
}
