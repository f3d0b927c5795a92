import { owedAssets, owedLater } from '../../../abi/euler/math.ts'
import { groupBy } from '../../../db/group-by.ts'
import type { Reading } from '../../catalogue/reading.ts'
import type { LendingStakes } from '../../lending/family.ts'
import { protocolOf } from '../../lending/market.ts'
import { holdingsByBlock } from '../../lending/queries.ts'
import { pinnedTo, readOwnFlows, type StakesAsked, stepsOf } from '../../lending/stakes.ts'
import { ask, columns } from '../../moment/query.ts'
import { refuseTooMany, type Stake } from '../../portfolio/stake.ts'
import { evkStatesAt } from './history.ts'
import type { EvkLendingMarket } from './market.ts'
import { evkDebt } from './queries.ts'
import { subAccountsOf } from './sub-accounts.ts'

const RAY = 10n ** 27n

const debtsByBlock = holdingsByBlock({
  name: 'evk_debts_by_block',
  key: columns('evk_debt', ['vault']),
  columns: evkDebt,
})

async function read(
  _markets: readonly EvkLendingMarket[],
  asked: StakesAsked,
  reading: Reading,
): Promise<Stake[]> {
  const { chain } = asked
  const [debts, loansOf] = await Promise.all([
    ask(reading.deps.clickhouse, debtsByBlock, pinnedTo(asked, reading), reading.signal),
    readOwnFlows('euler-v2', asked, reading),
  ])
  refuseTooMany(debts.length)
  const byPlace = groupBy(debts, ({ vault, account }) => `${vault} ${account}`)
  return [...byPlace.values()].flatMap((own): Stake[] => {
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
}

/** What is said of a vault; undefined where it is not described. */
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

/** What wallets and their sub-accounts owe, whether or not there is a market of it still; what they lend are shares of a vault. */
export const evkStakes: LendingStakes<EvkLendingMarket> = {
  held: `SELECT chain_id FROM evk_owner WHERE owner IN {accounts:Array(String)}
    UNION ALL SELECT chain_id FROM evk_debt WHERE account IN {accounts:Array(String)}`,
  accounts: (wallets, chain, { deps, catalogue, signal }) => {
    const p = catalogue.chain(chain, 'lending')?.position ?? 0
    return subAccountsOf(deps.clickhouse, { chain, p, wallets }, signal)
  },
  read,
}
