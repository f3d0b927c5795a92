import { expect } from 'vitest'
import { accrueMorpho, type MorphoMarket } from '../../abi/morpho-blue/math.ts'
import { morphoAbi } from '../chain/abis.ts'
import { accruedTotals } from '../chain/morpho.ts'
import { big, lastRows, type Walk } from './rows.ts'

/** Markets and positions as Morpho Blue holds them at a block, and markets with their interest up to it. */
export async function compareMorpho(
  { node, world, pipeline, everyone, counted }: Walk,
  block: number,
  time: number,
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
  const rates = await lastRows(pipeline, 'morpho_sampled_rate', 'market', 'rate_wad', block)
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
    const rate = big(rates.find(of => of['market'] === market.id)?.['rate_wad'])
    const { market: now } = accrueMorpho(state, rate, time)
    expect(
      {
        totalSupplyAssets: now.supplyAssets,
        totalSupplyShares: now.supplyShares,
        totalBorrowAssets: now.borrowAssets,
        totalBorrowShares: now.borrowShares,
      },
      `interest at ${block}`,
    ).toEqual(await accruedTotals(node, address, market, BigInt(block)))
    counted.values += 10
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
