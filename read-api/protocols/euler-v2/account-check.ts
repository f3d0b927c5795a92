import { type Address, zeroAddress } from 'viem'
import { view } from '../../chain/view.ts'
import { LANDING_SECONDS, largest } from '../../transactions/borrow/bounds.ts'
import type { ReadViews } from '../../transactions/family.ts'
import { eulerOracleAbi, evkAbi } from './abis.ts'

const part = (value: bigint, ltvBps: bigint) => (value > 0n ? (value * ltvBps) / 10_000n : 0n)

/**
 * The shares of a vault that may leave an account. Whichever vault it is and whether it secures anything or not, a withdrawal
 * makes the connector check the owner by the vault that lends to it (Vault.sol: initOperation(OP_WITHDRAW, owner)):
 * LiquidityUtils.checkLiquidity, here with the interest until the transaction lands. Undefined: nothing is checked, or the
 * controller is no vault of this kind; what it thinks of it, the dry run tells.
 */
export async function freeShares(
  vault: Address,
  user: Address,
  of: { shares: bigint; controller: Address | undefined; collaterals: readonly Address[] },
  read: ReadViews,
): Promise<{ shares: bigint; because: string } | undefined> {
  const { shares, controller } = of
  if (!controller || shares === 0n) return undefined
  const { values } = await read({
    debt: view(evkAbi, controller, 'debtOf', [user]),
    liquidity: view(evkAbi, controller, 'accountLiquidity', [user, false]),
    rate: view(evkAbi, controller, 'interestRate', []),
    ltv: view(evkAbi, controller, 'LTVBorrow', [vault]),
    oracle: view(evkAbi, controller, 'oracle', []),
    unit: view(evkAbi, controller, 'unitOfAccount', []),
  })
  const { debt, liquidity, rate = 0n, oracle, unit } = values
  if (!debt) return undefined
  const silent = {
    shares: 0n,
    because: `the account owes the vault ${controller}, whose price oracle does not answer: nothing can be withdrawn until it does, or the debt is repaid`,
  }
  if (!liquidity || !oracle || oracle === zeroAddress || !unit) return silent
  const [covered, owes] = liquidity
  const then = owes + (owes * rate * BigInt(LANDING_SECONDS)) / 10n ** 27n + owes / 10n ** 9n + 1n
  const isCollateral = of.collaterals.some(one => one.toLowerCase() === vault.toLowerCase())
  const ltvBps = isCollateral ? BigInt(values.ltv ?? 0) : 0n
  const because = `the account owes the vault ${controller}, and would not be healthy with less`
  if (ltvBps === 0n)
    return covered > then
      ? undefined
      : { shares: 0n, because: `the account owes the vault ${controller}, and is not healthy` }
  const { values: quoted } = await read({
    quotes: view(eulerOracleAbi, oracle, 'getQuotes', [shares, vault, unit]),
  })
  if (!quoted.quotes) return silent
  const [value] = quoted.quotes
  const isHealthy = (taken: bigint) =>
    covered - part(value, ltvBps) + part((value * (shares - taken)) / shares - 1n, ltvBps) > then
  return { shares: largest(shares, isHealthy), because }
}
