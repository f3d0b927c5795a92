import { createRequire } from 'node:module'

/** A number of 18 digits after the point. */
interface Fixed {
  readonly value: bigint
  exp(): Fixed
}

/** What is used of it; its own types are not to be found where it says. */
interface Published {
  FixedX18: { new (raw: bigint): Fixed; mulDown(a: bigint, b: Fixed): bigint }
  PyIndex: { new (rate: Fixed): unknown }
  MarketState: {
    getExchangeRateFromImpliedRate(lnRate: Fixed, secondsLeft: bigint): { rawRate: bigint }
    fromRaw(state: RawState): {
      clone(): ReturnType<Published['MarketState']['fromRaw']>
      /** Throws where the market sells no such amount. */
      swapSyForExactPt(index: unknown, pt: bigint, at: bigint): { netSyToMarket: bigint }
    }
  }
}

/** As `readState` of a market gives it. */
export interface RawState {
  totalPt: bigint
  totalSy: bigint
  totalLp: bigint
  treasury: string
  scalarRoot: bigint
  expiry: bigint
  lnFeeRateRoot: bigint
  reserveFeePercent: bigint
  lastLnImpliedRate: bigint
}

/** Pendle's own arithmetic in TypeScript, as published. */
export const { FixedX18, MarketState, PyIndex } = createRequire(import.meta.url)(
  '@pendle/core-v2-offchain-math',
) as Published

/**
 * What a market asks in SY for nearly all that it can sell, and for a little less: the router looks for an answer up to 99.9 % of
 * the most (calcMaxPtOut). An amount of SY over the first is refused, one below the second is not.
 */
export function costOfMost(state: RawState, index: bigint, at: number): { most: bigint; less: bigint } {
  const market = MarketState.fromRaw(state)
  const pyIndex = new PyIndex(new FixedX18(index))
  const cost = (pt: bigint): bigint | undefined => {
    try {
      return market.clone().swapSyForExactPt(pyIndex, pt, BigInt(at)).netSyToMarket
    } catch {
      return undefined
    }
  }
  let [can, cannot] = [0n, state.totalPt]
  while (cannot - can > 1n) {
    const middle = (can + cannot) / 2n
    if (cost(middle) === undefined) cannot = middle
    else can = middle
  }
  return { most: cost(can) ?? 0n, less: cost((can * 99n) / 100n) ?? 0n }
}
