import { zeroAddress } from 'viem'
import { view } from '../../chain/view.ts'
import { erc4626Abi } from '../../transactions/abis.ts'
import { defineFamily } from '../../transactions/family.ts'
import { bindErc4626, type Redeemable } from '../erc-4626/deposit.ts'
import { evcAbi, evkAbi } from './abis.ts'
import { freeShares } from './account-check.ts'

/** @see Constants.sol of euler-vault-kit: bits of hookedOps; an operation hooked to no target is switched off. */
const opDeposit = 1n << 0n
const opWithdraw = 1n << 2n
const opRedeem = 1n << 3n

/** ERC-4626 with borrowing: operations may be switched off, and shares of an account in debt are bound. */
export const eulerEvk = defineFamily({
  name: 'euler-v2',
  probes: vault => ({
    evc: view(evkAbi, vault.address, 'EVC', []),
    hook: view(evkAbi, vault.address, 'hookConfig', []),
  }),
  bind(vault, { evc, hook }) {
    if (evc === undefined || hook === undefined) return undefined
    const off = (now: readonly [string, number] | undefined, op: bigint) =>
      now !== undefined && now[0] === zeroAddress && (BigInt(now[1]) & op) !== 0n
    return bindErc4626(vault, {
      family: 'euler-v2',
      views: user => ({
        hook: view(evkAbi, vault.address, 'hookConfig', []),
        cash: view(evkAbi, vault.address, 'cash', []),
        controllers: view(evcAbi, evc, 'getControllers', [user]),
        collaterals: view(evcAbi, evc, 'getCollaterals', [user]),
      }),
      depositsClosed: values =>
        off(values.hook, opDeposit) ? "The vault's governor has switched deposits off." : undefined,
      redeemsClosed: values =>
        off(values.hook, opRedeem) && off(values.hook, opWithdraw)
          ? "The vault's governor has switched withdrawals off."
          : undefined,
      // Vault.sol tells an account that has a controller that nothing can be redeemed, whatever the controller allows.
      async redeemable(user, shares, { hook: now, cash = 0n, controllers, collaterals = [] }, read) {
        const controller = controllers?.[0]
        if (!controller || shares === 0n) return undefined
        const free = await freeShares(vault.address, user, { shares, controller, collaterals }, read)
        const { values } = await read({ liquid: view(erc4626Abi, vault.address, 'convertToShares', [cash]) })
        const liquid = values.liquid ?? 0n
        const payable = shares < liquid ? shares : liquid
        const maxRedeem = free && free.shares < payable ? free.shares : payable
        const { values: worth } = await read({
          assets: view(erc4626Abi, vault.address, 'convertToAssets', [maxRedeem]),
        })
        const most: Redeemable = {
          maxRedeem,
          maxWithdraw: worth.assets,
          because: free && maxRedeem < payable ? free.because : 'the rest is lent out',
        }
        return {
          ...most,
          ...(off(now, opRedeem) ? { maxRedeem: 0n } : {}),
          ...(off(now, opWithdraw) ? { maxWithdraw: 0n } : {}),
        }
      },
    })
  },
})
