import type { RevertWords } from '../../transactions/revert-reason.ts'

const TOO_MUCH = 'the pool has no price for so much: the trade is too large or too small'

/** @see Errors.sol, ApproxStateLib.sol and MarketApproxLibOnchain.sol of @pendle/core-v2 */
export const errors: RevertWords = {
  abi: [
    'error MarketExpired()',
    'error MarketProportionTooHigh(int256 proportion, int256 maxProportion)',
    'error MarketExchangeRateBelowOne(int256 exchangeRate)',
    'error MarketInsufficientPtForTrade(int256 currentAmount, int256 requiredAmount)',
    'error MarketZeroTotalPtOrTotalAsset(int256 totalPt, int256 totalAsset)',
    'error MarketZeroNetLPFee()',
    'error ApproxFail()',
  ],
  words: {
    MarketExpired: 'the market has ended: its PT is redeemed',
    MarketProportionTooHigh: 'the pool would be left with next to no wrapped tokens',
    MarketExchangeRateBelowOne:
      'the trade would bring the price of the PT over one of the asset: it is too large for the pool',
    MarketInsufficientPtForTrade: 'the pool does not hold so much PT',
    MarketZeroTotalPtOrTotalAsset: 'there is nothing in the pool',
    MarketZeroNetLPFee:
      'so shortly before the expiry the fee of so small a trade rounds to nothing, which the market refuses: from the expiry on PT are redeemed',
    ApproxFail: TOO_MUCH,
  },
  strings: {
    'Slippage: search range overflow': TOO_MUCH,
    'Slippage: search range underflow': TOO_MUCH,
    'Slippage: APPROX_EXHAUSTED': TOO_MUCH,
  },
}
