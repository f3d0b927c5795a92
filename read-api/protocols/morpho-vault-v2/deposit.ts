import { view } from '../../chain/view.ts'
import { defineFamily } from '../../transactions/family.ts'
import { bindErc4626 } from '../erc-4626/deposit.ts'
import { morphoVaultV2Abi } from './abis.ts'

/**
 * Morpho's Vault V2. Its maxDeposit, maxMint, maxWithdraw and maxRedeem always answer 0, because they cannot promise not
 * to revert when they ask a gate; what its caps, gates and liquidity let through only a run of the call tells.
 */
export const morphoVaultV2 = defineFamily({
  name: 'morpho-vault-v2',
  probes: vault => ({
    liquidityAdapter: view(morphoVaultV2Abi, vault.address, 'liquidityAdapter', []),
    penalty: view(morphoVaultV2Abi, vault.address, 'forceDeallocatePenalty', [vault.address]),
  }),
  bind(vault, { liquidityAdapter, penalty }) {
    if (liquidityAdapter === undefined || penalty === undefined) return undefined
    return bindErc4626(vault, { family: 'morpho-vault-v2', views: () => ({}), limitsUnknown: true })
  },
})
