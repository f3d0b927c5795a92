import request from 'supertest'
import { expect } from 'vitest'
import { z } from 'zod'
import type { Node } from '../chain/node.ts'
import type { Pipeline } from '../pipeline.ts'
import type { ApiHarness } from '../read-api/harness.ts'
import { balanceOf, type IchiVault } from './world.ts'
import { worthAt } from './worth.ts'

const amount = z.object({ usd: z.string(), native: z.string() })
const asset = z.object({
  address: z.string(),
  symbol: z.string(),
  decimals: z.number(),
  balanceInVault: z.string(),
})
export const deepShape = z.object({
  address: z.string(),
  asset0: asset,
  asset1: asset,
  apr: z.object({ '7day': z.number(), '30day': z.number() }),
  totalSupply: z.string(),
  tvl: amount,
  price: z.string().optional(),
  standing: z.string(),
  warnings: z.array(z.string()).default([]),
  userBalance: z.string().default(''),
  userValue: amount.optional(),
})
export type Deep = z.infer<typeof deepShape>

export interface Stage {
  node: Node
  api: ApiHarness
  pipeline: Pipeline
}

export const ask = ({ api }: Pick<Stage, 'api'>, path: string, query: object = {}) =>
  request(api.app).get(`/beta/amm/deep/${path}`).query(query).set('x-api-key', api.apiKey)

/** What is shown of a vault, and of a wallet in it. */
export async function shown(
  stage: Pick<Stage, 'api'>,
  { address }: IchiVault,
  holder: string,
): Promise<Deep> {
  const answer = await ask(stage, `positions/${holder}/mainnet/${address}`)
  expect(answer.status, JSON.stringify(answer.body)).toBe(200)
  return deepShape.parse(answer.body)
}

/** Blocks at which a vault was read, as the index keeps them, up to a time. */
export async function readAt(
  { pipeline }: Pick<Stage, 'pipeline'>,
  { address }: IchiVault,
  until = 2 ** 32 - 1,
) {
  const [row] = await pipeline.rows<{ block: number; at: number; rows: number }>(
    `SELECT toUInt32(argMax(block_number, position)) AS block, toUInt32(argMax(toUnixTimestamp(timestamp), position)) AS at, toUInt32(count()) AS rows
     FROM amm_state WHERE vault = '${address}' AND timestamp <= toDateTime(${until}, 'UTC')
       AND position NOT IN (SELECT position FROM retracted WHERE stream = 1)`,
  )
  return row && row.rows > 0 ? row : undefined
}

/** The answer about a vault at the head against its contract at the block of its last reading, to the unit. */
export async function compareVault(
  stage: Stage,
  vault: IchiVault,
  holders: readonly string[],
): Promise<number> {
  const { node } = stage
  let values = 0
  const last = await readAt(stage, vault)
  const expected = last && (await worthAt(node, vault, last.block))
  for (const holder of holders) {
    const is = await shown(stage, vault, holder)
    const balance = await balanceOf(node, vault.address, holder as `0x${string}`)
    expect(is.userBalance, holder).toBe(`${balance}`)
    values++
    if (!expected) continue
    expect([is.asset0.balanceInVault, is.asset1.balanceInVault]).toEqual([
      `${expected.total0}`,
      `${expected.total1}`,
    ])
    expect([is.totalSupply, is.tvl.native]).toEqual([`${expected.supply}`, `${expected.value}`])
    expect(is.price).toBe(expected.meanTick === undefined ? 'spot' : 'time-weighted')
    expect(is.userValue?.native).toBe(
      expected.supply === 0n ? '' : `${(expected.value * balance) / expected.supply}`,
    )
    values += 5
  }
  return values
}
