import { parseAbi } from 'viem'

/** @see ERC-20; approve and the transfers are written without an answer, because some tokens give none. */
export const erc20Abi = parseAbi([
  'function name() view returns (string)',
  'function symbol() view returns (string)',
  'function decimals() view returns (uint8)',
  'function totalSupply() view returns (uint256)',
  'function balanceOf(address account) view returns (uint256)',
  'function allowance(address owner, address spender) view returns (uint256)',
  'function approve(address spender, uint256 amount)',
])

/** @see ERC-4626 */
export const erc4626Abi = parseAbi([
  'function asset() view returns (address)',
  'function totalAssets() view returns (uint256)',
  'function convertToAssets(uint256 shares) view returns (uint256)',
  'function convertToShares(uint256 assets) view returns (uint256)',
  'function maxDeposit(address receiver) view returns (uint256)',
  'function maxWithdraw(address owner) view returns (uint256)',
  'function maxRedeem(address owner) view returns (uint256)',
  'function previewWithdraw(uint256 assets) view returns (uint256)',
  'function previewRedeem(uint256 shares) view returns (uint256)',
  'function deposit(uint256 assets, address receiver) returns (uint256)',
  'function withdraw(uint256 assets, address receiver, address owner) returns (uint256)',
  'function redeem(uint256 shares, address receiver, address owner) returns (uint256)',
  'function paused() view returns (bool)',
])

/** @see ERC-7540, ERC-7575 (share) and ERC-7887 (cancellation) */
export const erc7540Abi = parseAbi([
  'function supportsInterface(bytes4 interfaceId) view returns (bool)',
  'function share() view returns (address)',
  'function requestDeposit(uint256 assets, address controller, address owner) returns (uint256)',
  'function requestRedeem(uint256 shares, address controller, address owner) returns (uint256)',
  'function pendingDepositRequest(uint256 requestId, address controller) view returns (uint256)',
  'function claimableDepositRequest(uint256 requestId, address controller) view returns (uint256)',
  'function pendingRedeemRequest(uint256 requestId, address controller) view returns (uint256)',
  'function claimableRedeemRequest(uint256 requestId, address controller) view returns (uint256)',
  'function deposit(uint256 assets, address receiver, address controller) returns (uint256)',
  'function redeem(uint256 shares, address receiver, address controller) returns (uint256)',
  'function pendingCancelDepositRequest(uint256 requestId, address controller) view returns (bool)',
  'function claimableCancelDepositRequest(uint256 requestId, address controller) view returns (uint256)',
  'function pendingCancelRedeemRequest(uint256 requestId, address controller) view returns (bool)',
  'function claimableCancelRedeemRequest(uint256 requestId, address controller) view returns (uint256)',
  'function cancelDepositRequest(uint256 requestId, address controller)',
  'function cancelRedeemRequest(uint256 requestId, address controller)',
  'function claimCancelDepositRequest(uint256 requestId, address receiver, address controller)',
  'function claimCancelRedeemRequest(uint256 requestId, address receiver, address controller)',
])

/** @see Vault.sol of hopperlabsxyz/lagoon-v0, v0.5.0; the preview is there since v0.6.0 */
export const lagoonAbi = parseAbi([
  'function isTotalAssetsValid() view returns (bool)',
  'function previewSyncDeposit(uint256 assets) view returns (uint256)',
  'function syncDeposit(uint256 assets, address receiver, address referral) payable returns (uint256)',
])

/** @see StakedUSDeV2.sol of ethena-labs */
export const stakedUsdeAbi = parseAbi([
  'function cooldownDuration() view returns (uint24)',
  'function cooldowns(address account) view returns (uint104 cooldownEnd, uint152 underlyingAmount)',
  'function cooldownAssets(uint256 assets) returns (uint256 shares)',
  'function cooldownShares(uint256 shares) returns (uint256 assets)',
  'function unstake(address receiver)',
])

/** @see StakedTokenV3.sol of aave/aave-stk-v1-5; V2 has COOLDOWN_SECONDS and a bare timestamp in stakersCooldowns. */
export const stakedTokenAbi = parseAbi([
  'function STAKED_TOKEN() view returns (address)',
  'function REWARD_TOKEN() view returns (address)',
  'function UNSTAKE_WINDOW() view returns (uint256)',
  'function getCooldownSeconds() view returns (uint256)',
  'function stakersCooldowns(address user) view returns (uint40 timestamp, uint216 amount)',
  'function inPostSlashingPeriod() view returns (bool)',
  'function previewStake(uint256 assets) view returns (uint256)',
  'function previewRedeem(uint256 shares) view returns (uint256)',
  'function getTotalRewardsBalance(address staker) view returns (uint256)',
  'function stake(address to, uint256 amount)',
  'function cooldown()',
  'function redeem(address to, uint256 amount)',
  'function claimRewards(address to, uint256 amount)',
])

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

/** @see IEVault.sol of euler-xyz/euler-vault-kit */
export const evkAbi = parseAbi([
  'function EVC() view returns (address)',
  'function hookConfig() view returns (address hookTarget, uint32 hookedOps)',
  'function caps() view returns (uint16 supplyCap, uint16 borrowCap)',
  'function cash() view returns (uint256)',
  'function debtOf(address account) view returns (uint256)',
  'function oracle() view returns (address)',
  'function unitOfAccount() view returns (address)',
  'function totalBorrows() view returns (uint256)',
  'function interestRate() view returns (uint256)',
  'function interestFee() view returns (uint16)',
  'function interestAccumulator() view returns (uint256)',
  'function LTVBorrow(address collateral) view returns (uint16)',
  'function accountLiquidity(address account, bool liquidation) view returns (uint256 collateralValue, uint256 liabilityValue)',
  'function borrow(uint256 amount, address receiver) returns (uint256)',
  'function repay(uint256 amount, address receiver) returns (uint256)',
  'function disableController()',
])

/** @see IEthereumVaultConnector.sol of euler-xyz/ethereum-vault-connector */
export const evcAbi = parseAbi([
  'struct BatchItem { address targetContract; address onBehalfOfAccount; uint256 value; bytes data; }',
  'function getControllers(address account) view returns (address[])',
  'function getCollaterals(address account) view returns (address[])',
  'function getAccountOwner(address account) view returns (address)',
  'function enableCollateral(address account, address vault) payable',
  'function enableController(address account, address vault) payable',
  'function batch(BatchItem[] items) payable',
])

/** @see IPriceOracle.sol of euler-xyz/euler-price-oracle */
export const eulerOracleAbi = parseAbi([
  'function getQuotes(uint256 inAmount, address base, address quote) view returns (uint256 bidOutAmount, uint256 askOutAmount)',
])

/** @see IMetaMorpho.sol of morpho-org/metamorpho */
export const metaMorphoAbi = parseAbi([
  'function MORPHO() view returns (address)',
  'function supplyQueueLength() view returns (uint256)',
  'function withdrawQueueLength() view returns (uint256)',
])

/** @see IVaultV2.sol of morpho-org/vault-v2 */
export const morphoVaultV2Abi = parseAbi([
  'function liquidityAdapter() view returns (address)',
  'function forceDeallocatePenalty(address adapter) view returns (uint256)',
])

/** @see IMorpho.sol, IIrm.sol and IOracle.sol of @morpho-org/morpho-blue 1.0.0 */
const morphoStructs = [
  'struct MarketParams { address loanToken; address collateralToken; address oracle; address irm; uint256 lltv; }',
  'struct Market { uint128 totalSupplyAssets; uint128 totalSupplyShares; uint128 totalBorrowAssets; uint128 totalBorrowShares; uint128 lastUpdate; uint128 fee; }',
] as const
export const morphoAbi = parseAbi([
  ...morphoStructs,
  'function market(bytes32 id) view returns (Market)',
  'function position(bytes32 id, address user) view returns (uint256 supplyShares, uint128 borrowShares, uint128 collateral)',
  'function supply(MarketParams params, uint256 assets, uint256 shares, address onBehalf, bytes data) returns (uint256, uint256)',
  'function withdraw(MarketParams params, uint256 assets, uint256 shares, address onBehalf, address receiver) returns (uint256, uint256)',
  'function borrow(MarketParams params, uint256 assets, uint256 shares, address onBehalf, address receiver) returns (uint256, uint256)',
  'function repay(MarketParams params, uint256 assets, uint256 shares, address onBehalf, bytes data) returns (uint256, uint256)',
  'function supplyCollateral(MarketParams params, uint256 assets, address onBehalf, bytes data)',
  'function withdrawCollateral(MarketParams params, uint256 assets, address onBehalf, address receiver)',
])
export const irmAbi = parseAbi([
  ...morphoStructs,
  'function borrowRateView(MarketParams params, Market market) view returns (uint256)',
])
export const morphoOracleAbi = parseAbi(['function price() view returns (uint256)'])

/** @see WETH9.sol */
export const wrappedNativeAbi = parseAbi(['function deposit() payable', 'function withdraw(uint256 amount)'])

/** @see IRewardsController.sol and IRewardsDistributor.sol of @aave/periphery-v3 */
export const rewardsControllerAbi = parseAbi([
  'function getAllUserRewards(address[] assets, address user) view returns (address[] rewards, uint256[] amounts)',
  'function claimRewards(address[] assets, uint256 amount, address to, address reward) returns (uint256)',
  'function claimAllRewards(address[] assets, address to) returns (address[] rewards, uint256[] amounts)',
])

/** @see CometRewards.sol of compound-finance/comet; getRewardOwed accrues, and is only ever read here. */
export const cometRewardsAbi = parseAbi([
  'struct RewardOwed { address token; uint256 owed; }',
  'function getRewardOwed(address comet, address account) returns (RewardOwed)',
  'function claim(address comet, address src, bool shouldAccrue)',
])
