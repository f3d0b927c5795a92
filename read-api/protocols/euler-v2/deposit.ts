import { type Address, zeroAddress } from 'viem'
import { view } from '../../chain/view.ts'
import { erc4626Abi, eulerOracleAbi, evcAbi, evkAbi } from '../../transactions/abis.ts'
import { LANDING_SECONDS, largest } from '../../transactions/borrow/bounds.ts'
import { defineFamily, type ReadViews, type VaultRef } from '../../transactions/family.ts'
import { bindErc4626, type Redeemable } from '../erc-4626/deposit.ts'

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
        const isCollateral = collaterals.some(of => of.toLowerCase() === vault.address)
        const most = await unbound(vault, user, { shares, cash, controller, isCollateral }, read)
        return {
          ...most,
          ...(off(now, opRedeem) ? { maxRedeem: 0n } : {}),
          ...(off(now, opWithdraw) ? { maxWithdraw: 0n } : {}),
        }
      },
    })
  },
})

/**
 * What leaves the account healthy by LiquidityUtils.checkLiquidity of its controller, with the interest until it lands. A
 * controller that is no vault of this kind says nothing beforehand: what it thinks of it, the dry run tells.
 */
async function unbound(
  vault: VaultRef,
  user: Address,
  of: { shares: bigint; cash: bigint; controller: Address; isCollateral: boolean },
  read: ReadViews,
): Promise<Redeemable> {
  const { shares, controller } = of
  const { values } = await read({
    liquid: view(erc4626Abi, vault.address, 'convertToShares', [of.cash]),
    liquidity: view(evkAbi, controller, 'accountLiquidity', [user, false]),
    rate: view(evkAbi, controller, 'interestRate', []),
    ltv: view(evkAbi, controller, 'LTVBorrow', [vault.address]),
    oracle: view(evkAbi, controller, 'oracle', []),
    unit: view(evkAbi, controller, 'unitOfAccount', []),
  })
  const { liquid = 0n, liquidity: [covered, owes] = [0n, 0n], rate = 0n, oracle, unit } = values
  const payable = shares < liquid ? shares : liquid
  const counts = of.isCollateral && oracle !== undefined && unit !== undefined ? BigInt(values.ltv ?? 0) : 0n
  let free = payable
  if (owes > 0n) {
    const then = owes + (owes * rate * BigInt(LANDING_SECONDS)) / 10n ** 27n + owes / 10n ** 9n + 1n
    const { values: quoted } =
      counts > 0n
        ? await read({
            quotes: view(eulerOracleAbi, oracle as Address, 'getQuotes', [
              shares,
              vault.address,
              unit as Address,
            ]),
          })
        : { values: { quotes: undefined } }
    const value = quoted.quotes?.[0] ?? 0n
    free = largest(
      payable,
      taken => covered - part(value, counts) + part((value * (shares - taken)) / shares - 1n, counts) > then,
    )
  }
  const { values: worth } = await read({ assets: view(erc4626Abi, vault.address, 'convertToAssets', [free]) })
  return {
    maxRedeem: free,
    maxWithdraw: worth.assets,
    because:
      free < payable
        ? `the account owes the vault ${controller}, and would not be healthy with less`
        : 'the rest is lent out',
  }
}

const part = (value: bigint, ltvBps: bigint) => (value > 0n ? (value * ltvBps) / 10_000n : 0n)
