import { parseAbi } from 'viem'

/** @see AToken.sol, Pool.sol and ReserveConfiguration.sol of @aave/core-v3 1.19.3 */
export const aaveAbi = parseAbi([
  'struct ReserveData { uint256 configuration; uint128 liquidityIndex; uint128 currentLiquidityRate; uint128 variableBorrowIndex; uint128 currentVariableBorrowRate; uint128 currentStableBorrowRate; uint40 lastUpdateTimestamp; uint16 id; address aTokenAddress; address stableDebtTokenAddress; address variableDebtTokenAddress; address interestRateStrategyAddress; uint128 accruedToTreasury; uint128 unbacked; uint128 isolationModeTotalDebt; }',
  'function POOL() view returns (address)',
  'function UNDERLYING_ASSET_ADDRESS() view returns (address)',
  'function getIncentivesController() view returns (address)',
  'function getReserveData(address asset) view returns (ReserveData)',
  'function getReserveNormalizedIncome(address asset) view returns (uint256)',
  'function getReserveNormalizedVariableDebt(address asset) view returns (uint256)',
  // Of v3.1 and later: what is lent and withdrawn counts against this.
  'function getVirtualUnderlyingBalance(address asset) view returns (uint128)',
  'function scaledTotalSupply() view returns (uint256)',
  'function supply(address asset, uint256 amount, address onBehalfOf, uint16 referralCode)',
  'function withdraw(address asset, uint256 amount, address to) returns (uint256)',
  'function borrow(address asset, uint256 amount, uint256 interestRateMode, uint16 referralCode, address onBehalfOf)',
  'function repay(address asset, uint256 amount, uint256 interestRateMode, address onBehalfOf) returns (uint256)',
  'function setUserUseReserveAsCollateral(address asset, bool useAsCollateral)',
])

/** How accounts stand; the bitmaps of eModes are of v3.2 and later. @see IPool.sol, IPoolAddressesProvider.sol, IPriceOracleGetter.sol */
export const aaveAccountAbi = parseAbi([
  'struct EModeCategory { uint16 ltv; uint16 liquidationThreshold; uint16 liquidationBonus; address priceSource; string label; }',
  'function ADDRESSES_PROVIDER() view returns (address)',
  'function getPriceOracle() view returns (address)',
  'function getAssetPrice(address asset) view returns (uint256)',
  'function getUserConfiguration(address user) view returns (uint256)',
  'function getUserEMode(address user) view returns (uint256)',
  'function getEModeCategoryData(uint8 id) view returns (EModeCategory)',
  'function getEModeCategoryCollateralBitmap(uint8 id) view returns (uint128)',
  'function getEModeCategoryBorrowableBitmap(uint8 id) view returns (uint128)',
  // Of v3.6 and later.
  'function getEModeCategoryLtvzeroBitmap(uint8 id) view returns (uint128)',
  'function POOL_REVISION() view returns (uint256)',
])

/** @see IRewardsController.sol and IRewardsDistributor.sol of @aave/periphery-v3 */
export const rewardsControllerAbi = parseAbi([
  'function getAllUserRewards(address[] assets, address user) view returns (address[] rewards, uint256[] amounts)',
  'function claimRewards(address[] assets, uint256 amount, address to, address reward) returns (uint256)',
  'function claimAllRewards(address[] assets, address to) returns (address[] rewards, uint256[] amounts)',
])
