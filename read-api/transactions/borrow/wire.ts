import { networkOfChain } from '../../../db/networks.ts'
import { checksum } from '../../http/amounts.ts'
import type { LendingMarket } from '../../lending/market.ts'
import { marketAssetIdOf, marketIdOf } from '../../lending/wire.ts'
import { type BorrowAction, type BorrowStanding, borrowActions, type MarketAssetRef } from './family.ts'

/** The borrow context of the wire. */
export function borrowContextOf(
  market: LendingMarket,
  asset: MarketAssetRef,
  user: string,
  { steps, balances, limits }: BorrowStanding,
  { allowUnlisted }: { allowUnlisted?: boolean | undefined } = {},
) {
  const network = networkOfChain(market.chainId)?.name ?? ''
  const marketId = marketIdOf(market)
  const asked = allowUnlisted ? '?allowUnlisted=true' : ''
  const stepsOf = (name: BorrowAction) => {
    const path = [name, checksum(user), network, marketId, marketAssetIdOf(asset)]
      .map(encodeURIComponent)
      .join('/')
    const actions = [...steps[name]]
    return actions.length === 0
      ? []
      : [
          {
            name,
            actions,
            actionsUrl: `/beta/borrow/markets/transactions/${path}${name === 'supply' ? asked : ''}`,
          },
        ]
  }
  const [supplySteps, withdrawSteps, borrowSteps, repaySteps] = borrowActions.map(stepsOf)
  const current = (of: ReturnType<typeof stepsOf> | undefined) => of?.[0]?.name ?? ''
  const text = <K extends string>(amounts: Record<K, bigint>) =>
    Object.fromEntries(Object.entries(amounts).map(([key, amount]) => [key, String(amount)])) as Record<
      K,
      string
    >
  return {
    marketId,
    name: market.name,
    currentSupplyStep: current(supplySteps),
    currentWithdrawStep: current(withdrawSteps),
    currentBorrowStep: current(borrowSteps),
    currentRepayStep: current(repaySteps),
    supplySteps: supplySteps ?? [],
    withdrawSteps: withdrawSteps ?? [],
    borrowSteps: borrowSteps ?? [],
    repaySteps: repaySteps ?? [],
    balances: text(balances),
    limits: text(limits),
  }
}
