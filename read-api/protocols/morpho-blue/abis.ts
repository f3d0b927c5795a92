import { parseAbi } from 'viem'

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
