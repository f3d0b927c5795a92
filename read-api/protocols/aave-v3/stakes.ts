import { groupBy } from '../../../db/group-by.ts'
import type { Reading } from '../../catalogue/reading.ts'
import type { LendingStakes } from '../../lending/family.ts'
import { holdingsByBlock } from '../../lending/queries.ts'
import { pinnedTo, readOwnFlows, type StakesAsked, stakeIn, stepsOf } from '../../lending/stakes.ts'
import { ask, columns } from '../../moment/query.ts'
import { refuseTooMany, type Stake } from '../../portfolio/stake.ts'
import { aaveWorth } from './history.ts'
import type { AaveLendingMarket } from './market.ts'

const scaledByBlock = holdingsByBlock({
  name: 'aave_scaled_by_block',
  key: columns('aave_balance', ['token']),
  columns: columns('aave_balance', ['scaled']),
})

async function read(
  markets: readonly AaveLendingMarket[],
  asked: StakesAsked,
  reading: Reading,
): Promise<Stake[]> {
  if (markets.length === 0) return []
  const { deps, signal } = reading
  const [rows, flowsOf] = await Promise.all([
    ask(deps.clickhouse, scaledByBlock, pinnedTo(asked, reading), signal),
    readOwnFlows('aave-v3', asked, reading),
  ])
  refuseTooMany(rows.length)
  const byToken = groupBy(rows, ({ token, account }) => `${token} ${account}`)
  return markets.flatMap(market =>
    market.reserves.flatMap(reserve => {
      const asset = market.assets.find(({ id }) => id === reserve.asset)
      if (!asset) return []
      return asked.accounts.flatMap(account =>
        (['supplied', 'debt'] as const).flatMap((kind): Stake[] => {
          const isDebt = kind === 'debt'
          if (!isDebt && asked.isVaultShown(reserve.aToken)) return []
          const token = isDebt ? reserve.debtToken : reserve.aToken
          const held = (byToken.get(`${token} ${account}`) ?? []).map(row => ({
            ...row,
            units: BigInt(row.scaled),
          }))
          const of = { account, contract: market.root, market: asset.eventMarket, side: 'loan' as const }
          const steps = held.length > 0 && stepsOf(held, flowsOf(of, isDebt))
          if (!steps) return []
          const values: Stake['values'] = async times => {
            const worthAt = await aaveWorth(market, reserve, times, reading)
            return (step, at) => worthAt(at)?.[isDebt ? 'owed' : 'supplied'](steps[step]?.units ?? 0n)
          }
          return [{ ...stakeIn(market, asset, token), kind, account, steps, values }]
        }),
      )
    }),
  )
}

/** What accounts owe to pools, and lend to reserves whose aToken is not shown as a vault. */
export const aaveStakes: LendingStakes<AaveLendingMarket> = {
  held: 'SELECT chain_id FROM aave_balance WHERE account IN {accounts:Array(String)}',
  read,
}
