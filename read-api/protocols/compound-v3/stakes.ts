import { cometBalances } from '../../../abi/compound-v3/math.ts'
import { groupBy } from '../../../db/group-by.ts'
import type { Reading } from '../../catalogue/reading.ts'
import type { LendingStakes } from '../../lending/family.ts'
import { holdingsByBlock } from '../../lending/queries.ts'
import { pinnedTo, readOwnFlows, type StakesAsked, stakeIn, stepsOf } from '../../lending/stakes.ts'
import { ask, columns } from '../../moment/query.ts'
import { refuseTooMany, type Stake } from '../../portfolio/stake.ts'
import { cometTotalsAt } from './history.ts'
import type { CometLendingMarket } from './market.ts'

const principalsByBlock = holdingsByBlock({
  name: 'comet_principals_by_block',
  key: columns('comet_principal', ['comet']),
  columns: columns('comet_principal', ['principal']),
})
const collateralByBlock = holdingsByBlock({
  name: 'comet_collateral_by_block',
  key: columns('comet_collateral', ['comet', 'asset']),
  columns: columns('comet_collateral', ['balance']),
})

async function read(
  markets: readonly CometLendingMarket[],
  asked: StakesAsked,
  reading: Reading,
): Promise<Stake[]> {
  if (markets.length === 0) return []
  const { deps, signal } = reading
  const pinned = pinnedTo(asked, reading)
  const [principals, collaterals, flowsOf] = await Promise.all([
    ask(deps.clickhouse, principalsByBlock, pinned, signal),
    ask(deps.clickhouse, collateralByBlock, pinned, signal),
    readOwnFlows('compound-v3', asked, reading),
  ])
  refuseTooMany(principals.length + collaterals.length)
  const principalOf = groupBy(principals, ({ comet, account }) => `${comet} ${account}`)
  const collateralOf = groupBy(collaterals, ({ comet, asset, account }) => `${comet} ${asset} ${account}`)
  return markets.flatMap(market =>
    market.assets.flatMap(asset =>
      asked.accounts.flatMap((account): Stake[] => {
        const of = { account, contract: market.root, market: asset.eventMarket, side: asset.side }
        const stake = { ...stakeIn(market, asset, market.root), account }
        if (asset.side === 'collateral') {
          const rows = collateralOf.get(`${market.id} ${asset.id} ${account}`) ?? []
          const held = rows.map(row => ({ ...row, units: BigInt(row.balance) }))
          const steps = stepsOf(held, flowsOf(of, false))
          return steps
            ? [{ ...stake, kind: 'collateral', steps, values: async () => step => steps[step]?.units ?? 0n }]
            : []
        }
        const rows = principalOf.get(`${market.id} ${account}`) ?? []
        return (['supplied', 'debt'] as const).flatMap((kind): Stake[] => {
          const isDebt = kind === 'debt'
          if (!isDebt && asked.isVaultShown(market.root)) return []
          const held = rows.map(row => {
            const principal = BigInt(row.principal) * (isDebt ? -1n : 1n)
            return { ...row, units: principal > 0n ? principal : 0n }
          })
          const steps = held.length > 0 && stepsOf(held, flowsOf(of, isDebt))
          if (!steps) return []
          const values: Stake['values'] = async times => {
            const totalsAt = await cometTotalsAt(market, times, reading)
            return (step, at) => {
              const totals = totalsAt(at)
              const units = steps[step]?.units ?? 0n
              if (!totals) return undefined
              return isDebt ? cometBalances(-units, totals).borrowed : cometBalances(units, totals).supplied
            }
          }
          return [{ ...stake, kind, steps, values }]
        })
      }),
    ),
  )
}

/** What accounts owe to Comets and secure it with, and lend to those that are not shown as vaults. */
export const cometStakes: LendingStakes<CometLendingMarket> = {
  held: `SELECT chain_id FROM comet_principal WHERE account IN {accounts:Array(String)}
    UNION ALL SELECT chain_id FROM comet_collateral WHERE account IN {accounts:Array(String)}`,
  read,
}
