import { erc20 } from '../chain/abis.ts'
import type { Node } from '../chain/node.ts'
import { ORACLE, type PendleMarket, pendleAbi, ROUTER } from '../chain/pendle.ts'
import { FixedX18, MarketState } from './published-math.ts'

const WAD = 10n ** 18n

/** What the contracts say at a block. */
export async function stateAt(node: Node, of: PendleMarket, block: number) {
  const at = { abi: pendleAbi, blockNumber: BigInt(block) } as const
  const read = node.client.readContract
  return {
    state: await read({ ...at, address: of.market, functionName: 'readState', args: [ROUTER] }),
    rate: await read({ ...at, address: of.sy, functionName: 'exchangeRate' }),
    index: await read({ ...at, address: of.yt, functionName: 'pyIndexStored' }),
    supply: await read({
      address: of.pt.address,
      abi: erc20,
      functionName: 'totalSupply',
      blockNumber: BigInt(block),
    }),
    oracle: await read({ ...at, address: ORACLE, functionName: 'getPtToAssetRate', args: [of.market, 0] }),
  }
}

/** What a PT is worth by Pendle's own library. */
function priceOf(lnRate: bigint, left: number, rate: bigint, index: bigint): bigint {
  const raw =
    left <= 0
      ? WAD
      : WAD ** 2n / MarketState.getExchangeRateFromImpliedRate(new FixedX18(lnRate), BigInt(left)).rawRate
  return rate < index ? (raw * rate) / index : raw
}

/** What a market is worth at a time (unix seconds) by its state at a block; amounts in base units of the PT. */
export async function figuresAt(node: Node, of: PendleMarket, block: number, at: number) {
  const read = await stateAt(node, of, block)
  const { state, rate, index, supply } = read
  const price = priceOf(state.lastLnImpliedRate, of.expiry - at, rate, index)
  const liquidity = (state.totalSy * rate) / WAD + (state.totalPt * price) / WAD
  return {
    read,
    price,
    liquidity,
    tvl: liquidity + ((supply - state.totalPt) * price) / WAD,
    apy: state.totalLp === 0n ? 0 : Number(new FixedX18(state.lastLnImpliedRate).exp().value) / 1e18 - 1,
  }
}
