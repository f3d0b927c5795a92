import { view } from '../../chain/view.ts'
import { defineFamily } from '../../transactions/family.ts'
import { bindErc4626 } from '../erc-4626/deposit.ts'
import { metaMorphoAbi } from './abis.ts'

/**
 * ERC-4626 over Morpho Blue. Deposits go to the markets of the supply queue, up to their caps; an empty queue closes
 * deposits. Withdrawals are bound by the liquidity of the markets in the withdraw queue.
 */
export const metamorpho = defineFamily({
  name: 'metamorpho',
  probes: vault => ({
    morpho: view(metaMorphoAbi, vault.address, 'MORPHO', []),
    withdrawQueue: view(metaMorphoAbi, vault.address, 'withdrawQueueLength', []),
  }),
  bind(vault, { morpho, withdrawQueue }) {
    if (morpho === undefined || withdrawQueue === undefined) return undefined
    return bindErc4626(vault, {
      family: 'metamorpho',
      views: () => ({ supplyQueue: view(metaMorphoAbi, vault.address, 'supplyQueueLength', []) }),
      depositsClosed: ({ supplyQueue }) =>
        supplyQueue === 0n
          ? 'The curator has closed the vault to deposits (its supply queue is empty).'
          : undefined,
    })
  },
})
