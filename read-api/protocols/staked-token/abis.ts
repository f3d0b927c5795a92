import { parseAbi } from 'viem'

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
