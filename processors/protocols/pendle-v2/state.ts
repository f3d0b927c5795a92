import { functions as Market } from '../../../abi/pendle-v2/Market.ts'
import { functions as Oracle } from '../../../abi/pendle-v2/Oracle.ts'
import { functions as PrincipalToken } from '../../../abi/pendle-v2/PrincipalToken.ts'
import { functions as StandardizedYield } from '../../../abi/pendle-v2/StandardizedYield.ts'
import { functions as YieldToken } from '../../../abi/pendle-v2/YieldToken.ts'
import { address, encodeCall, smallUint, uint } from '../../../abi/words.ts'
import type { EventData } from '../../../db/events/vocabulary.ts'
import table from '../../../db/registry/contracts/pendle-v2.json' with { type: 'json' }
import { DAY } from '../../../db/units.ts'
import { some } from '../../handling/decoder.ts'
import type { StateRead } from '../../protocol.ts'
import { answered, asAddress, asDecimals, asSymbol, asText, asWord } from '../../samples/answers.ts'

/** State of a market and its tokens as their view functions say it; @see IPMarket.sol and IStandardizedYield.sol. */

/** How long a market is looked at hourly after it has ended: what it is worth changes seldom from then on. */
const LOOK_ON = 7 * DAY
/** Assets for an SY, scaled by 1e18: what says more is no rate. */
const MOST_RATE = 10n ** 36n

/** An answer of assetInfo(): 1, of which the asset is what a position in liquidity is worth. */
const LIQUIDITY = 1

/** The tokens of a market, asked of the market itself, whose code is its factory's. */
export function readTokens(market: string): StateRead {
  return {
    key: `fixed term tokens ${market}`,
    isConstant: true,
    calls: [Market.readTokens, Market.expiry].map(fn => ({ to: market, data: encodeCall(fn) })),
    events: ([tokens, end]) => {
      const [sy, pt, yt] = [2, 66, 130].map(at => answered(tokens, hex => some(address(hex, at))))
      const expiry = answered(end, hex => smallUint(hex, 2, 32))
      if (!sy || !pt || !yt || expiry === undefined) return []
      return [{ type: 'FixedTermTokensNamed', contract: market, data: { market, pt, sy, yt, expiry } }]
    },
  }
}

/** What the tokens of a market say of themselves. Without decimals of the PT there is nothing to count in. */
export function readDescriptions({ market, pt, sy }: EventData<'FixedTermTokensNamed'>): StateRead {
  const ask = (to: string, fn: Parameters<typeof encodeCall>[0]) => ({ to, data: encodeCall(fn) })
  return {
    key: `fixed term descriptions ${market}`,
    isConstant: true,
    calls: [
      ...[PrincipalToken.name, PrincipalToken.symbol, PrincipalToken.decimals].map(fn => ask(pt, fn)),
      ...[StandardizedYield.decimals, StandardizedYield.yieldToken, StandardizedYield.assetInfo].map(fn =>
        ask(sy, fn),
      ),
    ],
    events: ([name, symbol, ptDecimals, syDecimals, yieldToken, info]) => {
      const decimals = answered(ptDecimals, asDecimals)
      if (decimals === undefined) return []
      const asset = answered(info, hex => ({
        kind: smallUint(hex, 2, 8),
        address: some(address(hex, 66)),
        decimals: smallUint(hex, 130, 8),
      }))
      const data: EventData<'FixedTermMarketDescribed'> = {
        market,
        name: asText(name),
        symbol: asSymbol(symbol),
        decimals,
        syDecimals: answered(syDecimals, asDecimals),
        yieldToken: answered(yieldToken, asAddress),
        ...(asset?.address && { asset: asset.address, assetDecimals: asset.decimals }),
        ...(asset?.kind === LIQUIDITY && { isLiquidity: true }),
      }
      return [{ type: 'FixedTermMarketDescribed', contract: market, data }]
    },
  }
}

/** The pool, the supply of its PT and what its SY is worth; and the protocol's oracle, to hold our figures to. */
export function readState({ market, pt, sy, yt, expiry }: EventData<'FixedTermTokensNamed'>): StateRead {
  return {
    key: `fixed term state ${market}`,
    hourlyUntil: expiry + LOOK_ON,
    calls: [
      { to: market, data: encodeCall(Market.readState, table.router) },
      { to: pt, data: encodeCall(PrincipalToken.totalSupply) },
      { to: yt, data: encodeCall(YieldToken.pyIndexStored) },
      { to: sy, data: encodeCall(StandardizedYield.exchangeRate) },
      { to: table.oracle, data: encodeCall(Oracle.getPtToAssetRate, market, 0n) },
    ],
    events: ([state, supply, index, rate, oracle]) => {
      const [totalPt, totalSy, totalLp, lnRateWad] = [2, 66, 130, 514].map(at =>
        answered(state, hex => uint(hex, at, 255)),
      )
      if (totalPt === undefined || totalSy === undefined || totalLp === undefined || lnRateWad === undefined)
        return []
      const data: EventData<'FixedTermStateSampled'> = {
        totalPt,
        totalSy,
        totalLp,
        lnRateWad,
        ptSupply: answered(supply, asWord),
        exchangeRate: rateOf(rate),
        pyIndex: rateOf(index),
        oracleRateWad: answered(oracle, asWord),
      }
      return [{ type: 'FixedTermStateSampled', contract: market, data }]
    },
    trouble: ([state, , , rate]) => {
      if (answered(state, asWord) === undefined || rateOf(rate) !== undefined) return undefined
      const said = answered(rate, asWord)
      return {
        contract: sy,
        reason: `exchangeRate() of the SY of market ${market} ${said === undefined ? 'does not answer' : `says ${said}, which is no rate`}: what the market is worth is not known`,
      }
    },
  }
}

function rateOf(answer: string | undefined): bigint | undefined {
  const rate = answered(answer, asWord)
  return rate === undefined || rate === 0n || rate > MOST_RATE ? undefined : rate
}
