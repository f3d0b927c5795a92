import { columns, defineQuery, rowOf, z } from '../../moment/query.ts'
import { newest, VISIBLE_ON_CHAIN as VISIBLE } from '../../moment/visible.ts'

/** Morpho Blue of one chain as of {p}. Integers wider than 64 bits come as text. */

const market = columns(
  'morpho_market',
  ['morpho', 'market', 'loan_asset', 'collateral_asset', 'oracle', 'irm'],
  { lltv: 'lltv_wad' },
)
export const MORPHO_STATE = [
  'supply_assets',
  'supply_shares',
  'borrow_assets',
  'borrow_shares',
  'collateral',
  'last_update',
] as const
const state = columns('morpho_state', MORPHO_STATE, { fee: 'fee_wad' })

export const morphoMarkets = defineQuery({
  name: 'morpho_markets',
  sql: `SELECT ${market.select('m')}, ${state.select('s')},
      coalesce(if(a.market = '', NULL, toString(a.rate_wad)), toString(s.borrow_rate_wad)) AS borrow_rate, if(r.market = '', NULL, toString(r.rate_at_target_wad)) AS rate_at_target,
      if(o.market = '', NULL, toString(o.price)) AS oracle_price
    FROM (${newest('morpho_market', 'market')}) AS m
    INNER JOIN (${newest('morpho_state', 'market')}) AS s ON m.market = s.market
    LEFT JOIN (${newest('morpho_rate', 'market')}) AS r ON m.market = r.market
    LEFT JOIN (${newest('morpho_sampled_rate', 'market')}) AS a ON m.market = a.market
    LEFT JOIN (${newest('oracle_price', 'market, asset')}) AS o ON m.market = o.market
    ORDER BY market`,
  row: z.object({
    ...market.row,
    ...state.row,
    borrow_rate: z.string().nullable(),
    rate_at_target: z.string().nullable(),
    oracle_price: z.string().nullable(),
  }),
})
export type MorphoRow = z.output<typeof morphoMarkets.row>

const position = columns('morpho_position', ['supply_shares', 'borrow_shares', 'collateral'])

export const morphoPositions = defineQuery({
  name: 'morpho_positions',
  sql: `SELECT account, market, ${position.fromTuple('p')}
    FROM (SELECT account, market, argMax((${position.list()}), position) AS p FROM morpho_position
      WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, market)`,
  row: rowOf('morpho_position', ['account', 'market']).extend(position.row),
})

/** What accounts have supplied, with interest up to the market's last accrual. */
export const lent = `SELECT held.account AS account, m.loan_asset AS asset, held.market AS market,
        intDiv(held.shares * (s.supply_assets + 1), s.supply_shares + 1000000) AS amount
      FROM (SELECT account, market, argMax(supply_shares, position) AS shares FROM morpho_position
        WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, market) AS held
      INNER JOIN (${newest('morpho_market', 'market')}) AS m ON held.market = m.market
      INNER JOIN (${newest('morpho_state', 'market')}) AS s ON held.market = s.market`
