import { parseAbi } from 'viem'

/** @see IVaultV2.sol of morpho-org/vault-v2 */
export const morphoVaultV2Abi = parseAbi([
  'function liquidityAdapter() view returns (address)',
  'function forceDeallocatePenalty(address adapter) view returns (uint256)',
])
