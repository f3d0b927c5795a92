import { expect } from 'vitest'
import type { MorphoMarket } from '../../db/lending/morpho-math.ts'
import { morphoAbi } from '../chain/abis.ts'
import { big, lastRows, type Walk } from './rows.ts'

/** Markets and positions as Morpho Blue holds them at a block. */
export async function compareMorpho(
  { node, world, pipeline, everyone, counted }: Walk,
  block: number,
): Promise<void> {
  const { address, markets } = world.morpho
  const at = { blockNumber: BigInt(block) }
  const states = await lastRows(
    pipeline,
    'morpho_state',
    'market',
    'supply_assets, supply_shares, borrow_assets, borrow_shares, last_update, fee_wad',
    block,
  )
  const positions = await lastRows(
    pipeline,
    'morpho_position',
    'account, market',
    'supply_shares, borrow_shares, collateral',
    block,
  )
  for (const market of markets) {
    const view = await node.client.readContract({
      address,
      abi: morphoAbi,
      functionName: 'market',
      args: [market.id],
      ...at,
    })
    const row = states.find(state => state['market'] === market.id)
    const state: MorphoMarket = {
      supplyAssets: big(row?.['supply_assets']),
      supplyShares: big(row?.['supply_shares']),
      borrowAssets: big(row?.['borrow_assets']),
      borrowShares: big(row?.['borrow_shares']),
      lastUpdate: Number(row?.['last_update']),
      feeWad: big(row?.['fee_wad']),
    }
    expect(
      [
        state.supplyAssets,
        state.supplyShares,
        state.borrowAssets,
        state.borrowShares,
        BigInt(state.lastUpdate),
        state.feeWad,
      ],
      `market at ${block}`,
    ).toEqual([...view])
    counted.values += 6
    await Promise.all(
      everyone.map(async user => {
        const [supplyShares, borrowShares, collateral] = await node.client.readContract({
          address,
          abi: morphoAbi,
          functionName: 'position',
          args: [market.id, user],
          ...at,
        })
        const mine = positions.find(p => p['market'] === market.id && p['account'] === user)
        const found = {
          supplyShares: big(mine?.['supply_shares']),
          borrowShares: big(mine?.['borrow_shares']),
          collateral: big(mine?.['collateral']),
        }
        expect(found, `${user} at ${block}`).toEqual({ supplyShares, borrowShares, collateral })
        counted.values += 3
      }),
    )
  }
}
