import { parseAbi } from 'viem'

/** @see IMetaMorpho.sol of morpho-org/metamorpho */
export const metaMorphoAbi = parseAbi([
  'function MORPHO() view returns (address)',
  'function supplyQueueLength() view returns (uint256)',
  'function withdrawQueueLength() view returns (uint256)',
])
