import * as Comet from '../../../abi/compound-v3/Comet.ts'
import { address, encodeCall, int, smallUint, uint } from '../../../abi/words.ts'
import type { DomainEvent } from '../../../db/events/vocabulary.ts'
import type { StateRead } from '../../protocol.ts'
import { answered } from '../../samples/answers.ts'

/** State of a Comet as its view functions say it; @see CometMainInterface.sol and CometExtInterface.sol. */

const { functions } = Comet

type Getter = Extract<
  keyof typeof functions,
  | `supply${string}`
  | `borrow${string}`
  | 'baseScale'
  | 'baseBorrowMin'
  | 'targetReserves'
  | 'storeFrontPriceFactor'
>

const GETTERS = {
  baseScale: 'baseScale',
  baseBorrowMin: 'baseBorrowMin',
  targetReserves: 'targetReserves',
  storeFrontPriceFactorWad: 'storeFrontPriceFactor',
  supplyKinkWad: 'supplyKink',
  supplyRateBaseWad: 'supplyPerSecondInterestRateBase',
  supplyRateSlopeLowWad: 'supplyPerSecondInterestRateSlopeLow',
  supplyRateSlopeHighWad: 'supplyPerSecondInterestRateSlopeHigh',
  borrowKinkWad: 'borrowKink',
  borrowRateBaseWad: 'borrowPerSecondInterestRateBase',
  borrowRateSlopeLowWad: 'borrowPerSecondInterestRateSlopeLow',
  borrowRateSlopeHighWad: 'borrowPerSecondInterestRateSlopeHigh',
} as const satisfies Record<string, Getter>

export function readConfiguration(comet: string): StateRead {
  const names = Object.keys(GETTERS) as (keyof typeof GETTERS)[]
  const ask = (fn: Parameters<typeof encodeCall>[0]) => ({ to: comet, data: encodeCall(fn) })
  return {
    key: `comet configuration ${comet}`,
    calls: [
      ask(functions.baseToken),
      ask(functions.baseTokenPriceFeed),
      ask(functions.numAssets),
      ...names.map(name => ask(functions[GETTERS[name]])),
    ],
    events: answers => {
      const [base, feed, count, ...rest] = answers
      const baseAsset = answered(base, hex => address(hex, 2))
      const baseOracle = answered(feed, hex => address(hex, 2))
      const assetCount = answered(count, hex => smallUint(hex, 2, 8))
      const values = rest.map(answer => answered(answer, hex => uint(hex, 2, 256)))
      if (!baseAsset || !baseOracle || assetCount === undefined || values.includes(undefined)) return []
      const parameters = Object.fromEntries(names.map((name, i) => [name, values[i] ?? 0n])) as Record<
        keyof typeof GETTERS,
        bigint
      >
      const data = { market: comet, baseAsset, baseOracle, ...parameters, assetCount }
      return [{ type: 'CometConfigured', contract: comet, data }]
    },
  }
}

export function readAsset(comet: string, offset: number): StateRead {
  return {
    key: `comet asset ${comet} ${offset}`,
    calls: [{ to: comet, data: encodeCall(functions.getAssetInfo, BigInt(offset)) }],
    events: ([answer]) => {
      const data = answered(answer, hex => ({
        market: comet,
        asset: address(hex, 66),
        offset,
        oracle: address(hex, 130),
        scale: uint(hex, 194, 64),
        borrowCollateralFactorWad: uint(hex, 258, 64),
        liquidateCollateralFactorWad: uint(hex, 322, 64),
        liquidationFactorWad: uint(hex, 386, 64),
        supplyCap: uint(hex, 450, 128),
      }))
      return data ? [{ type: 'CometAssetConfigured', contract: comet, data }] : []
    },
  }
}

/** An answer of totalsBasic(). */
export function totalsOf(answer: string | undefined) {
  return answered(answer, hex => ({
    supplyIndex: uint(hex, 2, 64),
    borrowIndex: uint(hex, 66, 64),
    supplyPrincipal: uint(hex, 258, 104),
    borrowPrincipal: uint(hex, 322, 104),
    updatedAt: smallUint(hex, 386, 40),
    pauseFlags: smallUint(hex, 450, 8),
  }))
}

export function readTotals(comet: string): StateRead {
  return {
    key: `comet totals ${comet}`,
    ofDebtors: { contract: comet, read: account => readPrincipal(comet, account) },
    calls: [
      { to: comet, data: encodeCall(functions.totalsBasic) },
      { to: comet, data: encodeCall(functions.getReserves) },
    ],
    events: ([totals, reserves]) => {
      const stated = totalsOf(totals)
      if (!stated) return []
      const data = { market: comet, ...stated, reserves: answered(reserves, hex => int(hex, 2, 256)) }
      return [{ type: 'CometStateSampled', contract: comet, data }]
    },
  }
}

export function readPrincipal(comet: string, account: string): StateRead {
  return {
    key: `comet principal ${comet} ${account}`,
    calls: [{ to: comet, data: encodeCall(functions.userBasic, account) }],
    events: ([answer]) => {
      const principal = answered(answer, hex => int(hex, 2, 104))
      if (principal === undefined) return []
      return [{ type: 'PrincipalSampled', contract: comet, data: { market: comet, account, principal } }]
    },
  }
}

/** getPrice reverts where a feed's answer is not positive: then there is no price. */
export function readPrice(comet: string, asset: string, oracle: string): StateRead {
  return {
    key: `comet price ${comet} ${asset}`,
    calls: [{ to: comet, data: encodeCall(functions.getPrice, oracle) }],
    events: ([answer]): DomainEvent[] => {
      const price = answered(answer, hex => uint(hex, 2, 256))
      return [{ type: 'OraclePriceSampled', contract: comet, data: { market: comet, asset, oracle, price } }]
    },
  }
}
