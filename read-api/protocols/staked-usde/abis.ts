import { parseAbi } from 'viem'

/** @see StakedUSDeV2.sol of ethena-labs */
export const stakedUsdeAbi = parseAbi([
  'function cooldownDuration() view returns (uint24)',
  'function cooldowns(address account) view returns (uint104 cooldownEnd, uint152 underlyingAmount)',
  'function cooldownAssets(uint256 assets) returns (uint256 shares)',
  'function cooldownShares(uint256 shares) returns (uint256 assets)',
  'function unstake(address receiver)',
])
