import { newest } from '../../lending/queries.ts'
import { defineQuery, z } from '../../moment/query.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from '../../moment/visible.ts'

/** Morpho Blue of one chain as of {p}. Integers wider than 64 bits come as text. */

export const morphoMarkets = defineQuery({
  name: 'morpho_markets',
  sql: `SELECT m.morpho AS morpho, m.market AS market, m.loan_asset AS loan_asset, m.collateral_asset AS collateral_asset,
      m.oracle AS oracle, m.irm AS irm, toString(m.lltv_wad) AS lltv,
      toString(s.supply_assets) AS supply_assets, toString(s.supply_shares) AS supply_shares,
      toString(s.borrow_assets) AS borrow_assets, toString(s.borrow_shares) AS borrow_shares,
      toString(s.collateral) AS collateral, s.last_update AS last_update, toString(s.fee_wad) AS fee,
      coalesce(if(a.market = '', NULL, toString(a.rate_wad)), toString(s.borrow_rate_wad)) AS borrow_rate, if(r.market = '', NULL, toString(r.rate_at_target_wad)) AS rate_at_target,
      if(o.market = '', NULL, toString(o.price)) AS oracle_price
    FROM (${newest('morpho_market', 'market')}) AS m
    INNER JOIN (${newest('morpho_state', 'market')}) AS s ON m.market = s.market
    LEFT JOIN (${newest('morpho_rate', 'market')}) AS r ON m.market = r.market
    LEFT JOIN (${newest('morpho_sampled_rate', 'market')}) AS a ON m.market = a.market
    LEFT JOIN (${newest('oracle_price', 'market, asset')}) AS o ON m.market = o.market
    ORDER BY market`,
  row: z.object({
    morpho: z.string(),
    market: z.string(),
    loan_asset: z.string(),
    collateral_asset: z.string().nullable(),
    oracle: z.string().nullable(),
    irm: z.string().nullable(),
    lltv: z.string(),
    supply_assets: z.string(),
    supply_shares: z.string(),
    borrow_assets: z.string(),
    borrow_shares: z.string(),
    collateral: z.string(),
    last_update: z.number(),
    fee: z.string(),
    borrow_rate: z.string().nullable(),
    rate_at_target: z.string().nullable(),
    oracle_price: z.string().nullable(),
  }),
})
export type MorphoRow = z.output<typeof morphoMarkets.row>

export const morphoPositions = defineQuery({
  name: 'morpho_positions',
  sql: `SELECT account, market, toString(p.1) AS supply_shares, toString(p.2) AS borrow_shares, toString(p.3) AS collateral
    FROM (SELECT account, market, argMax((supply_shares, borrow_shares, collateral), position) AS p FROM morpho_position
      WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, market)`,
  row: z.object({
    account: z.string(),
    market: z.string(),
    supply_shares: z.string(),
    borrow_shares: z.string(),
    collateral: z.string(),
  }),
})

/** What accounts have supplied, with interest up to the market's last accrual. */
export const lent = `SELECT held.account AS account, m.loan_asset AS asset, held.market AS market,
        intDiv(held.shares * (s.supply_assets + 1), s.supply_shares + 1000000) AS amount
      FROM (SELECT account, market, argMax(supply_shares, position) AS shares FROM morpho_position
        WHERE ${VISIBLE} AND account IN {accounts:Array(String)} GROUP BY account, market) AS held
      INNER JOIN (${newest('morpho_market', 'market')}) AS m ON held.market = m.market
      INNER JOIN (${newest('morpho_state', 'market')}) AS s ON held.market = s.market`
