import { groupBy } from '../../db/group-by.ts'
import type { Reading } from '../catalogue/reading.ts'
import { isVouchedFor } from '../catalogue/vault-state.ts'
import { ask } from '../moment/query.ts'
import { ROW_LIMIT, refuseTooMany, type Stake, type StakeStep } from '../portfolio/stake.ts'
import { type LendingAsset, type LendingMarket, protocolOf } from './market.ts'
import { type OwnFlow, ownLendingFlows } from './queries.ts'

/** Whose positions, and up to when (unix seconds). */
export interface StakesAsked {
  chain: number
  accounts: readonly string[]
  to: number
  /** Whether the statement shows a contract as a vault: what is held of it is stated there. */
  isVaultShown(address: string): boolean
}

/** As queries of a lending face take it. */
export const pinnedTo = (
  { chain, accounts, to }: Omit<StakesAsked, 'isVaultShown'>,
  { catalogue }: Reading,
) => ({
  chain,
  p: catalogue.chain(chain, 'lending')?.position ?? 0,
  accounts: [...accounts],
  to,
  limit: ROW_LIMIT,
})

/** Where an account's units stood after a block. */
export interface Holding {
  account: string
  block: number
  at: number
  units: bigint
}

/** What accounts themselves paid in and out, to be asked by account, contract, market and side. */
export async function readOwnFlows(protocol: string, asked: StakesAsked, reading: Reading) {
  const rows = await ask(
    reading.deps.clickhouse,
    ownLendingFlows,
    { ...pinnedTo(asked, reading), protocol },
    reading.signal,
  )
  refuseTooMany(rows.length)
  const keyOf = (of: Pick<OwnFlow, 'account' | 'contract' | 'market' | 'side'>) =>
    `${of.account} ${of.contract} ${of.market} ${of.side}`
  const byKey = groupBy(rows, keyOf)
  return (of: Pick<OwnFlow, 'account' | 'contract' | 'market' | 'side'>, isDebt: boolean) =>
    (byKey.get(keyOf(of)) ?? []).flatMap((row): Paid[] => {
      const paid = {
        in: BigInt(isDebt ? row.borrow : row.supply),
        out: BigInt(isDebt ? row.repay : row.withdraw),
      }
      return paid.in > 0n || paid.out > 0n ? [{ block: row.block, at: row.at, paid }] : []
    })
}

interface Paid {
  block: number
  at: number
  paid: { in: bigint; out: bigint }
}

/** Steps of one account, of what it held and what it paid; undefined where it never had anything. */
export function stepsOf(
  holdings: readonly Omit<Holding, 'account'>[],
  flows: readonly Paid[],
): StakeStep[] | undefined {
  if (holdings.every(({ units }) => units === 0n) && flows.length === 0) return undefined
  const paid = new Map(flows.map(of => [of.block, of]))
  const held = new Map(holdings.map(of => [of.block, of]))
  const blocks = [...new Set([...held.keys(), ...paid.keys()])].sort((a, b) => a - b)
  let units = 0n
  return blocks.map(block => {
    const [own, flow] = [held.get(block), paid.get(block)]
    units = own?.units ?? units
    return { block, at: own?.at ?? flow?.at ?? 0, units, ...(flow ? { paid: flow.paid } : {}) }
  })
}

/** A position in an asset of a market, as far as it follows from that. */
export const stakeIn = (
  market: LendingMarket,
  { info }: Pick<LendingAsset, 'info'>,
  address: string,
): Pick<Stake, 'chainId' | 'protocol' | 'id' | 'address' | 'name' | 'asset' | 'isVouchedFor'> => ({
  chainId: market.chainId,
  protocol: protocolOf(market),
  id: market.id,
  address,
  name: market.name,
  asset: info,
  isVouchedFor: isVouchedFor(market),
})
