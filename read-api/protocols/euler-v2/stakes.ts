import { assetsOfShares, owedAssets, owedLater } from '../../../abi/euler/math.ts'
import { groupBy } from '../../../db/group-by.ts'
import { perMoment } from '../../catalogue/per-moment.ts'
import type { Reading } from '../../catalogue/reading.ts'
import { protocolOf } from '../../lending/market.ts'
import { holdingsByBlock } from '../../lending/queries.ts'
import { pinnedTo, readOwnFlows, type StakesAsked, stepsOf } from '../../lending/stakes.ts'
import { inChunks } from '../../moment/chunks.ts'
import { ask, z } from '../../moment/query.ts'
import { refuseTooMany, type Stake } from '../../portfolio/stake.ts'
import { evkStatesAt } from './history.ts'
import type { EvkLendingMarket } from './market.ts'
import { evkFlowsByBlock, evkKnownVaults, evkOwners } from './queries.ts'
import { subAccountsOf } from './sub-accounts.ts'

const RAY = 10n ** 27n

const debtsByBlock = holdingsByBlock({
  name: 'evk_debts_by_block',
  table: 'evk_debt',
  key: 'vault',
  columns: { owed: 's.owed', accumulator: 's.accumulator_ray' },
  row: { vault: z.string(), owed: z.string(), accumulator: z.string() },
})
const sharesByBlock = holdingsByBlock({
  name: 'evk_shares_by_block',
  table: 'balance',
  account: 'holder',
  key: 'vault',
  where: ' AND vault IN {vaults:Array(String)}',
  columns: { shares: 's.balance' },
  row: { vault: z.string(), shares: z.string() },
})

/** What wallets and their sub-accounts owe, and what the latter lend: shares of a wallet itself are those of a vault. */
export async function evkStakes(
  _markets: readonly EvkLendingMarket[],
  asked: StakesAsked,
  reading: Reading,
): Promise<Stake[]> {
  const { clickhouse } = reading.deps
  const { chain } = asked
  const vaults = await knownVaults(reading, chain)
  if (vaults.length === 0) return []
  const { p } = pinnedTo(asked, reading)
  const owners = await ask(clickhouse, evkOwners, { chain, p, accounts: [...asked.accounts] }, reading.signal)
  const subs = await Promise.all(
    owners.map(({ owner: wallet }) =>
      inChunks(vaults, some => subAccountsOf(clickhouse, { chain, p, wallet, vaults: some }, reading.signal)),
    ),
  )
  // Shares of an account that is asked for itself are those of a vault, whoever's account it is.
  const others = {
    ...asked,
    accounts: [...new Set(subs.flat())].filter(sub => !asked.accounts.includes(sub)),
  }
  const lendable = others.accounts.length > 0 ? vaults : []
  const all = { ...asked, accounts: [...asked.accounts, ...others.accounts] }
  const [debts, loansOf, shares, flows] = await Promise.all([
    ask(clickhouse, debtsByBlock, pinnedTo(all, reading), reading.signal),
    readOwnFlows('euler-v2', all, reading),
    inChunks(lendable, some =>
      ask(clickhouse, sharesByBlock, { ...pinnedTo(others, reading), vaults: some }, reading.signal),
    ),
    inChunks(lendable, some =>
      ask(clickhouse, evkFlowsByBlock, { ...pinnedTo(others, reading), vaults: some }, reading.signal),
    ),
  ])
  refuseTooMany(debts.length + shares.length + flows.length)
  const keyOf = ({ vault, account }: { vault: string; account: string }) => `${vault} ${account}`
  const owed = [...groupBy(debts, keyOf).values()].flatMap((own): Stake[] => {
    const [{ vault, account } = { vault: '', account: '' }] = own
    const place = placeOf(chain, vault, reading)
    if (!place) return []
    const held = own.map(row => ({
      ...row,
      // A debt of the block, as it was when nothing had accrued yet.
      units: (BigInt(row.owed) * RAY) / BigInt(row.accumulator),
    }))
    const of = { account, contract: vault, market: vault, side: 'loan' as const }
    const steps = stepsOf(held, loansOf(of, true))
    if (!steps) return []
    const last = new Map(own.map(row => [row.block, row]))
    let row = own[0]
    const rows = steps.map(({ block }) => {
      row = last.get(block) ?? row
      return row
    })
    const values: Stake['values'] = async times => {
      const stateAt = await evkStatesAt(chain, vault, times, reading)
      return (step, at) => {
        const [state, debt] = [stateAt(at), rows[step]]
        if (!state || !debt) return undefined
        return owedAssets(owedLater(BigInt(debt.owed), BigInt(debt.accumulator), state.accumulator))
      }
    }
    return [{ ...place, kind: 'debt', account, steps, values }]
  })
  const flowsOf = groupBy(flows, keyOf)
  const lent = [...groupBy(shares, keyOf).entries()].flatMap(([key, own]): Stake[] => {
    const [{ vault, account } = { vault: '', account: '' }] = own
    const place = placeOf(chain, vault, reading)
    if (!place) return []
    const held = own.map(row => ({ ...row, units: BigInt(row.shares) }))
    const paid = (flowsOf.get(key) ?? []).map(({ block, at, deposited, withdrawn }) => {
      return { block, at, paid: { in: BigInt(deposited), out: BigInt(withdrawn) } }
    })
    const steps = stepsOf(held, paid)
    if (!steps) return []
    const values: Stake['values'] = async times => {
      const stateAt = await evkStatesAt(chain, vault, times, reading)
      return (step, at) => {
        const state = stateAt(at)
        return state && assetsOfShares(steps[step]?.units ?? 0n, state)
      }
    }
    return [{ ...place, kind: 'supplied', account, steps, values }]
  })
  return [...owed, ...lent]
}

/** Every vault that anybody may have lent to or borrowed from: markets come and go, and what is in a vault stays. */
const knownVaults = perMoment(async ({ deps, catalogue }: Reading, chain) => {
  const p = catalogue.chain(chain, 'lending')?.position ?? 0
  return (await ask(deps.clickhouse, evkKnownVaults, { chain, p })).map(({ vault }) => vault)
})

/** What is said of a vault, of its shares as of its debts; undefined where it is not described. */
function placeOf(chainId: number, vault: string, { catalogue }: Reading) {
  const known = catalogue.find(chainId, vault)
  return (
    known && {
      chainId,
      protocol: protocolOf({ protocol: 'euler-v2' }),
      id: vault,
      address: vault,
      name: `Euler v2 ${known.asset.symbol}`,
      asset: known.asset,
      isVouchedFor: known.standing !== 'found',
    }
  )
}
