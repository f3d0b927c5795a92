import { parseAbi } from 'viem'

/** @see ICHIVault.sol */
export const vaultAbi = parseAbi([
  'function getTotalAmounts() view returns (uint256 total0, uint256 total1)',
  'function deposit(uint256 deposit0, uint256 deposit1, address to) returns (uint256 shares)',
  'function withdraw(uint256 shares, address to) returns (uint256 amount0, uint256 amount1)',
])

/** @see ICHIVaultDepositGuard.sol, version 2 */
export const guardAbi = parseAbi([
  'function forwardDepositToICHIVault(address vault, address vaultDeployer, address token, uint256 amount, uint256 minimumProceeds, address to) returns (uint256 vaultTokens)',
  'function forwardWithdrawFromICHIVault(address vault, address vaultDeployer, uint256 shares, address to, uint256 minAmount0, uint256 minAmount1) returns (uint256 amount0, uint256 amount1)',
])
