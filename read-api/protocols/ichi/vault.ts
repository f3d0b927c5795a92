import { type Address, encodeFunctionData } from 'viem'
import type { Pair } from '../../amm/vault.ts'
import { view } from '../../chain/view.ts'
import { RefusedError } from '../../http/errors.ts'
import { erc20Abi } from '../../transactions/abis.ts'
import type { AmmDeposit, AmmFamily, AmmRef, AmmWithdrawal } from '../../transactions/amm/family.ts'
import type { Plan, PlannedAction, Token } from '../../transactions/family.ts'
import { approvals } from '../../transactions/wallet.ts'
import { guardAbi, vaultAbi } from './abi.ts'
import { ichiFigures } from './figures.ts'

/** Of a thousand parts of a quote so many are the minimum: half a percent may be lost until the transaction lands. */
const KEPT = 995n

/** Never zero where there was something. */
const leastOf = (quote: bigint | undefined): bigint => {
  if (quote === undefined || quote === 0n) return 0n
  const least = (quote * KEPT) / 1_000n
  return least === 0n ? 1n : least
}

/** What rounding may leave of an amount that a share comes to, base units: two positions and what lies idle. */
const ROUNDED = 3n

interface Spending {
  token: string
  spender: Address
  amount: bigint
  allowance: bigint
}

/** Approvals of all that is spent, and then `last`. */
function spendingPlan(
  spent: readonly Spending[],
  last: PlannedAction,
  gains: readonly Token[],
  resetAllowance: boolean,
): Plan {
  const actions: PlannedAction[] = []
  let first: number | undefined
  for (const { token, spender, amount, allowance } of spent) {
    const isApproved = allowance >= amount
    if (!isApproved) first ??= actions.length
    const reset = resetAllowance && !isApproved && allowance > 0n
    actions.push(...approvals(token as Address, spender, amount, { reset }))
  }
  return { actions: [...actions, last], currentActionIndex: first ?? actions.length, gains }
}

const asToken = ({ address, symbol, decimals }: AmmRef['tokens'][0]): Token => ({
  address: address as Address,
  symbol,
  decimals,
})

/**
 * ICHI's vaults: one token by the guard, where there is one, and both at once by the vault itself, which has a check of its own for
 * deposits and none for withdrawals.
 * @see ICHIVault.sol and ICHIVaultDepositGuard.sol
 */
export const ichi: AmmFamily = {
  protocol: 'ichi',
  figures: ichiFigures,
  async look(vault, user, read) {
    const own = vault.address as Address
    const guard = vault.guard && { ...vault.guard, address: vault.guard.address as Address }
    const [token0, token1] = vault.tokens.map(({ address }) => address as Address) as [Address, Address]
    const held = (token: Address) => view(erc20Abi, token, 'balanceOf', [user])
    const allowed = (token: Address, spender: Address) => view(erc20Abi, token, 'allowance', [user, spender])
    const { block, values } = await read({
      token0: held(token0),
      token1: held(token1),
      shares: held(own),
      supply: view(erc20Abi, own, 'totalSupply', []),
      totals: view(vaultAbi, own, 'getTotalAmounts', []),
      direct0: allowed(token0, own),
      direct1: allowed(token1, own),
      guarded0: allowed(token0, guard?.address ?? own),
      guarded1: allowed(token1, guard?.address ?? own),
      guardedShares: allowed(own, guard?.address ?? own),
    })
    const direct: Pair = [values.direct0 ?? 0n, values.direct1 ?? 0n]
    const guarded: Pair = [values.guarded0 ?? 0n, values.guarded1 ?? 0n]
    const isGuarded = (amounts: Pair) => guard !== undefined && amounts.some(amount => amount === 0n)
    const share: Token = { address: own, symbol: vault.symbol, decimals: vault.decimals }

    const deposit = ({ amounts, quote, resetAllowance }: AmmDeposit): Plan => {
      const by = isGuarded(amounts) && guard ? guard : undefined
      const allowances = by ? guarded : direct
      const spent = ([0, 1] as const).flatMap(side =>
        amounts[side] === 0n
          ? []
          : [
              {
                token: vault.tokens[side].address,
                spender: by?.address ?? own,
                amount: amounts[side],
                allowance: allowances[side],
              },
            ],
      )
      const [only] = spent
      const data =
        by && only
          ? encodeFunctionData({
              abi: guardAbi,
              functionName: 'forwardDepositToICHIVault',
              args: [own, by.deployer as Address, only.token as Address, only.amount, leastOf(quote), user],
            })
          : encodeFunctionData({
              abi: vaultAbi,
              functionName: 'deposit',
              args: [amounts[0], amounts[1], user],
            })
      return spendingPlan(spent, { name: 'deposit', to: by?.address ?? own, data }, [share], resetAllowance)
    }

    const withdraw = ({ shares, quotes, resetAllowance }: AmmWithdrawal): Plan => {
      const { supply = 0n, totals = [0n, 0n] } = values
      const gains = vault.tokens
        .filter((_, side) => supply > 0n && ((totals[side] ?? 0n) * shares) / supply > ROUNDED)
        .map(asToken)
      if (gains.length === 0)
        throw new RefusedError(
          `The amount is too small: ${shares} shares of ${supply} would give next to nothing of either token.`,
        )
      if (!guard) {
        const args = [shares, user] as const
        const data = encodeFunctionData({ abi: vaultAbi, functionName: 'withdraw', args })
        return { actions: [{ name: 'withdraw', to: own, data }], currentActionIndex: 0, gains }
      }
      const data = encodeFunctionData({
        abi: guardAbi,
        functionName: 'forwardWithdrawFromICHIVault',
        args: [own, guard.deployer as Address, shares, user, leastOf(quotes?.[0]), leastOf(quotes?.[1])],
      })
      const allowance = values.guardedShares ?? 0n
      const spent = [{ token: own, spender: guard.address, amount: shares, allowance }]
      return spendingPlan(spent, { name: 'withdraw', to: guard.address, data }, gains, resetAllowance)
    }

    return {
      block,
      tokens: [values.token0 ?? 0n, values.token1 ?? 0n],
      shares: values.shares ?? 0n,
      isGuarded,
      deposit,
      withdraw,
    }
  },
}
