import type { Address } from 'viem'
import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { calls, type Token } from '../chain/deploy.ts'
import type { Node } from '../chain/node.ts'
import {
  createMarket,
  deployPendle,
  deploySy,
  type PendleMarket,
  pendleAbi,
  ROUTER,
  seedMarket,
} from '../chain/pendle.ts'

const DAY = 86_400

/** A fixed-term market of Pendle's own contracts in the made-up world, and what the index has to know of it. */
export interface FixedTermSeat {
  market: PendleMarket
  events: DomainEvent[]
}

/** Around a vault that is on the node; it ends in 200 days. */
export async function seatFixedTerm(node: Node, vault: Address, asset: Token): Promise<FixedTermSeat> {
  const pendle = await deployPendle(node)
  const sy = await deploySy(node, vault, 'S')
  const { timestamp } = await node.head()
  const expiry = Math.floor(timestamp / DAY) * DAY + 200 * DAY
  const market = await createMarket(node, pendle, { sy, asset, expiry })
  const liquidity = 100_000n * 10n ** BigInt(asset.decimals)
  await node.send(calls.mintToken(pendle.admin, asset.address, pendle.admin, 2n * liquidity))
  await node.mine()
  await seedMarket(node, market, pendle.admin, liquidity)
  const state = await node.client.readContract({
    address: market.market,
    abi: pendleAbi,
    functionName: 'readState',
    args: [ROUTER],
  })
  const told = { protocol: 'pendle-v2', contract: market.market } as const
  const { name, symbol, decimals } = market.pt
  return {
    market,
    events: [
      {
        type: 'FixedTermMarketCreated',
        ...told,
        contract: pendle.marketFactory,
        data: { market: market.market, pt: market.pt.address },
      },
      {
        type: 'FixedTermTokensNamed',
        ...told,
        data: { market: market.market, pt: market.pt.address, sy, yt: market.yt, expiry },
      },
      {
        type: 'FixedTermMarketDescribed',
        ...told,
        data: {
          market: market.market,
          name,
          symbol,
          decimals,
          asset: asset.address,
          assetDecimals: asset.decimals,
          yieldToken: vault,
        },
      },
      {
        type: 'FixedTermStateSampled',
        ...told,
        data: {
          totalPt: state.totalPt,
          totalSy: state.totalSy,
          totalLp: state.totalLp,
          lnRateWad: state.lastLnImpliedRate,
          ptSupply: 2n * state.totalPt,
          exchangeRate: 10n ** 6n,
          pyIndex: 10n ** 6n,
        },
      },
    ],
  }
}
