import { zeroAddress } from 'viem'
import { view } from '../chain/view.ts'
import { evkAbi } from './abis.ts'
import { bindErc4626 } from './erc4626.ts'
import { defineFamily } from './family.ts'

/** @see Constants.sol of euler-vault-kit: bits of hookedOps; an operation hooked to no target is switched off. */
const opDeposit = 1n << 0n
const opWithdraw = 1n << 2n
const opRedeem = 1n << 3n

/** ERC-4626 with borrowing: operations may be switched off, and shares of an account in debt are bound. */
export const eulerEvk = defineFamily({
  name: 'euler-evk',
  probes: vault => ({
    evc: view(evkAbi, vault.address, 'EVC', []),
    hook: view(evkAbi, vault.address, 'hookConfig', []),
  }),
  bind(vault, { evc, hook }) {
    if (evc === undefined || hook === undefined) return undefined
    const off = (now: readonly [string, number] | undefined, op: bigint) =>
      now !== undefined && now[0] === zeroAddress && (BigInt(now[1]) & op) !== 0n
    return bindErc4626(vault, {
      family: 'euler-evk',
      views: user => ({
        hook: view(evkAbi, vault.address, 'hookConfig', []),
        debt: view(evkAbi, vault.address, 'debtOf', [user]),
        cash: view(evkAbi, vault.address, 'cash', []),
      }),
      depositsClosed: values =>
        off(values.hook, opDeposit) ? "The vault's governor has switched deposits off." : undefined,
      redeemsClosed: values =>
        off(values.hook, opRedeem) && off(values.hook, opWithdraw)
          ? "The vault's governor has switched withdrawals off."
          : undefined,
    })
  },
})
