import { newest } from '../../lending/queries.ts'
import { defineQuery, uint, z } from '../../moment/query.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from '../../moment/visible.ts'

/** Compound v3 markets of one chain as of {p}. Integers wider than 64 bits come as text. */

const RATES = ['supply', 'borrow'].flatMap(side =>
  ['kink', 'rate_base', 'rate_slope_low', 'rate_slope_high'].map(name => `${side}_${name}_wad`),
)
const rateColumns = {
  supply_kink_wad: z.string(),
  supply_rate_base_wad: z.string(),
  supply_rate_slope_low_wad: z.string(),
  supply_rate_slope_high_wad: z.string(),
  borrow_kink_wad: z.string(),
  borrow_rate_base_wad: z.string(),
  borrow_rate_slope_low_wad: z.string(),
  borrow_rate_slope_high_wad: z.string(),
}
const texts = (columns: readonly string[], of: string) =>
  columns.map(name => `toString(${of}.${name}) AS ${name}`).join(', ')

const TOTALS = ['supply_index', 'borrow_index', 'supply_principal', 'borrow_principal']
const totalColumns = {
  supply_index: z.string(),
  borrow_index: z.string(),
  supply_principal: z.string(),
  borrow_principal: z.string(),
  updated_at: z.number(),
}

export const cometMarketRows = defineQuery({
  name: 'comet_markets',
  sql: `SELECT c.comet AS comet, c.base_asset AS base_asset, c.base_oracle AS base_oracle, ${texts(['base_scale', ...RATES], 'c')},
      ${texts(TOTALS, 's')}, s.updated_at AS updated_at, s.pause_flags AS pause_flags, toString(s.reserves) AS reserves,
      toUnixTimestamp(s.timestamp) AS sampled_at
    FROM (${newest('comet_market', 'comet')}) AS c
    INNER JOIN (${newest('comet_state', 'comet')}) AS s ON c.comet = s.comet
    ORDER BY comet`,
  row: z.object({
    comet: z.string(),
    base_asset: z.string(),
    base_oracle: z.string(),
    base_scale: z.string(),
    ...rateColumns,
    ...totalColumns,
    pause_flags: z.number(),
    reserves: z.string().nullable(),
    sampled_at: uint,
  }),
})
export type CometRow = z.output<typeof cometMarketRows.row>

export const cometAssets = defineQuery({
  name: 'comet_assets',
  sql: `SELECT a.comet AS comet, a.asset AS asset, a.oracle AS oracle, toString(a.supply_cap) AS supply_cap, toString(t.total) AS total,
      ${texts(['scale', 'borrow_collateral_factor_wad', 'liquidate_collateral_factor_wad', 'liquidation_factor_wad'], 'a')}
    FROM (${newest('comet_asset', 'comet, asset')}) AS a
    LEFT JOIN (${newest('comet_collateral_total', 'comet, asset')}) AS t ON a.comet = t.comet AND a.asset = t.asset
    ORDER BY comet, a.offset`,
  row: z.object({
    comet: z.string(),
    asset: z.string(),
    oracle: z.string(),
    scale: z.string(),
    borrow_collateral_factor_wad: z.string(),
    liquidate_collateral_factor_wad: z.string(),
    liquidation_factor_wad: z.string(),
    supply_cap: z.string(),
    total: z.string(),
  }),
})
export type CometAssetRow = z.output<typeof cometAssets.row>

export const cometPrincipals = defineQuery({
  name: 'comet_principals',
  sql: `SELECT comet, toString(argMax(principal, position)) AS principal FROM comet_principal
    WHERE ${VISIBLE} AND account = {account:String} GROUP BY comet`,
  row: z.object({ comet: z.string(), principal: z.string() }),
})

export const cometCollaterals = defineQuery({
  name: 'comet_collaterals',
  sql: `SELECT comet, asset, toString(argMax(balance, position)) AS balance FROM comet_collateral
    WHERE ${VISIBLE} AND account = {account:String} GROUP BY comet, asset`,
  row: z.object({ comet: z.string(), asset: z.string(), balance: z.string() }),
})
