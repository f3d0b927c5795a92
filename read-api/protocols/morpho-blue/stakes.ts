import { morphoBalances } from '../../../abi/morpho-blue/math.ts'
import { groupBy } from '../../../db/group-by.ts'
import type { Reading } from '../../catalogue/reading.ts'
import type { LendingStakes } from '../../lending/family.ts'
import { holdingsByBlock } from '../../lending/queries.ts'
import { pinnedTo, readOwnFlows, type StakesAsked, stakeIn, stepsOf } from '../../lending/stakes.ts'
import { ask, columns } from '../../moment/query.ts'
import { refuseTooMany, type Stake } from '../../portfolio/stake.ts'
import { morphoMarketAt } from './history.ts'
import type { MorphoLendingMarket } from './market.ts'

const positionsByBlock = holdingsByBlock({
  name: 'morpho_positions_by_block',
  key: columns('morpho_position', ['market']),
  columns: columns('morpho_position', ['collateral'], { supplied: 'supply_shares', debt: 'borrow_shares' }),
})

async function read(
  markets: readonly MorphoLendingMarket[],
  asked: StakesAsked,
  reading: Reading,
): Promise<Stake[]> {
  if (markets.length === 0) return []
  const [rows, flowsOf] = await Promise.all([
    ask(reading.deps.clickhouse, positionsByBlock, pinnedTo(asked, reading), reading.signal),
    readOwnFlows('morpho-blue', asked, reading),
  ])
  refuseTooMany(rows.length)
  const known = new Map(markets.map(market => [market.id, market]))
  return [...groupBy(rows, ({ market, account }) => `${market} ${account}`).values()].flatMap(own => {
    const [first] = own
    const market = known.get(first?.market ?? '')
    if (!first || !market) return []
    const { account } = first
    return (['supplied', 'debt', 'collateral'] as const).flatMap((kind): Stake[] => {
      const side = kind === 'collateral' ? 'collateral' : 'loan'
      const asset = market.assets.find(of => of.side === side)
      const of = { account, contract: market.root, market: market.id, side } as const
      const held = own.map(row => ({ ...row, units: BigInt(row[kind]) }))
      const steps = asset && stepsOf(held, flowsOf(of, kind === 'debt'))
      if (!steps) return []
      const values: Stake['values'] = async times => {
        if (kind === 'collateral') return step => steps[step]?.units ?? 0n
        const marketAt = await morphoMarketAt(market, times, reading)
        return (step, at) => {
          const state = marketAt(at)
          const units = steps[step]?.units ?? 0n
          const shares = { collateral: 0n, supplyShares: units, borrowShares: units }
          return state && morphoBalances(shares, state)[kind === 'debt' ? 'borrowed' : 'supplied']
        }
      }
      return [{ ...stakeIn(market, asset, market.root), kind, account, steps, values }]
    })
  })
}

/** What accounts lend to markets, owe there, and secure it with. */
export const morphoStakes: LendingStakes<MorphoLendingMarket> = {
  held: 'SELECT chain_id FROM morpho_position WHERE account IN {accounts:Array(String)}',
  read,
}
