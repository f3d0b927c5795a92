import { columns, defineQuery, rowOf, z } from '../../moment/query.ts'
import { newest, VISIBLE_ON_CHAIN as VISIBLE } from '../../moment/visible.ts'

/** Compound v3 markets of one chain as of {p}. Integers wider than 64 bits come as text. */

/** What rates follow from. */
export const cometRates = columns('comet_market', [
  'supply_kink_wad',
  'supply_rate_base_wad',
  'supply_rate_slope_low_wad',
  'supply_rate_slope_high_wad',
  'borrow_kink_wad',
  'borrow_rate_base_wad',
  'borrow_rate_slope_low_wad',
  'borrow_rate_slope_high_wad',
])
export const cometTotals = columns('comet_state', [
  'supply_index',
  'borrow_index',
  'supply_principal',
  'borrow_principal',
  'updated_at',
])

const market = columns('comet_market', ['comet', 'base_asset', 'base_oracle', 'base_scale'])
const state = columns('comet_state', ['pause_flags', 'reserves'], { sampled_at: 'timestamp' })

export const cometMarketRows = defineQuery({
  name: 'comet_markets',
  sql: `SELECT ${market.select('c')}, ${cometRates.select('c')}, ${cometTotals.select('s')}, ${state.select('s')}
    FROM (${newest('comet_market', 'comet')}) AS c
    INNER JOIN (${newest('comet_state', 'comet')}) AS s ON c.comet = s.comet
    ORDER BY comet`,
  row: z.object({ ...market.row, ...cometRates.row, ...cometTotals.row, ...state.row }),
})
export type CometRow = z.output<typeof cometMarketRows.row>

const asset = columns('comet_asset', [
  'comet',
  'asset',
  'oracle',
  'scale',
  'borrow_collateral_factor_wad',
  'liquidate_collateral_factor_wad',
  'liquidation_factor_wad',
  'supply_cap',
])
const collateral = columns('comet_collateral_total', ['total'])

export const cometAssets = defineQuery({
  name: 'comet_assets',
  sql: `SELECT ${asset.select('a')}, ${collateral.select('t')}
    FROM (${newest('comet_asset', 'comet, asset')}) AS a
    LEFT JOIN (${newest('comet_collateral_total', 'comet, asset')}) AS t ON a.comet = t.comet AND a.asset = t.asset
    ORDER BY comet, a.offset, asset`,
  row: z.object({ ...asset.row, ...collateral.row }),
})
export type CometAssetRow = z.output<typeof cometAssets.row>

export const cometPrincipals = defineQuery({
  name: 'comet_principals',
  sql: `SELECT comet, toString(argMax(principal, position)) AS principal FROM comet_principal
    WHERE ${VISIBLE} AND account = {account:String} GROUP BY comet`,
  row: rowOf('comet_principal', ['comet', 'principal']),
})

export const cometCollaterals = defineQuery({
  name: 'comet_collaterals',
  sql: `SELECT comet, asset, toString(argMax(balance, position)) AS balance FROM comet_collateral
    WHERE ${VISIBLE} AND account = {account:String} GROUP BY comet, asset`,
  row: rowOf('comet_collateral', ['comet', 'asset', 'balance']),
})
