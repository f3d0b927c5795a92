import { parseAbi } from 'viem'

/** @see Comet.sol and CometExt.sol of compound-finance/comet */
export const cometAbi = parseAbi([
  'function baseToken() view returns (address)',
  'function baseTrackingSupplySpeed() view returns (uint256)',
  'function isSupplyPaused() view returns (bool)',
  'function isWithdrawPaused() view returns (bool)',
  'function borrowBalanceOf(address account) view returns (uint256)',
  'function supply(address asset, uint256 amount)',
  'function withdraw(address asset, uint256 amount)',
])

/** What a market is made of, and its interest. @see CometMainInterface.sol and CometExt.sol of compound-finance/comet */
export const cometMarketAbi = parseAbi([
  'struct TotalsBasic { uint64 baseSupplyIndex; uint64 baseBorrowIndex; uint64 trackingSupplyIndex; uint64 trackingBorrowIndex; uint104 totalSupplyBase; uint104 totalBorrowBase; uint40 lastAccrualTime; uint8 pauseFlags; }',
  'struct AssetInfo { uint8 offset; address asset; address priceFeed; uint64 scale; uint64 borrowCollateralFactor; uint64 liquidateCollateralFactor; uint64 liquidationFactor; uint128 supplyCap; }',
  'function baseTokenPriceFeed() view returns (address)',
  'function baseScale() view returns (uint256)',
  'function baseBorrowMin() view returns (uint256)',
  'function totalsBasic() view returns (TotalsBasic)',
  'function totalSupply() view returns (uint256)',
  'function totalBorrow() view returns (uint256)',
  'function getUtilization() view returns (uint256)',
  'function supplyKink() view returns (uint256)',
  'function supplyPerSecondInterestRateBase() view returns (uint256)',
  'function supplyPerSecondInterestRateSlopeLow() view returns (uint256)',
  'function supplyPerSecondInterestRateSlopeHigh() view returns (uint256)',
  'function getSupplyRate(uint256 utilization) view returns (uint64)',
  'function getBorrowRate(uint256 utilization) view returns (uint64)',
  'function numAssets() view returns (uint8)',
  'function getAssetInfo(uint8 n) view returns (AssetInfo)',
  'function getPrice(address priceFeed) view returns (uint256)',
  'function totalsCollateral(address asset) view returns (uint128 totalSupplyAsset)',
  'function collateralBalanceOf(address account, address asset) view returns (uint128)',
])

/** @see CometRewards.sol of compound-finance/comet; getRewardOwed accrues, and is only ever read here. */
export const cometRewardsAbi = parseAbi([
  'struct RewardOwed { address token; uint256 owed; }',
  'function getRewardOwed(address comet, address account) returns (RewardOwed)',
  'function claim(address comet, address src, bool shouldAccrue)',
])
