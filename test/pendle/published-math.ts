import { createRequire } from 'node:module'

/** A number of 18 digits after the point. */
interface Fixed {
  readonly value: bigint
  exp(): Fixed
}

/** What is used of it; its own types are not to be found where it says. */
interface Published {
  FixedX18: { new (raw: bigint): Fixed; mulDown(a: bigint, b: Fixed): bigint }
  MarketState: {
    getExchangeRateFromImpliedRate(lnRate: Fixed, secondsLeft: bigint): { rawRate: bigint }
  }
}

/** Pendle's own arithmetic in TypeScript, as published. */
export const { FixedX18, MarketState } = createRequire(import.meta.url)(
  '@pendle/core-v2-offchain-math',
) as Published
