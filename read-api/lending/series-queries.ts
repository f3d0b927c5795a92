import { defineQuery, uint, z } from '../moment/query.ts'
import { VISIBLE_ON_CHAIN as VISIBLE } from '../moment/visible.ts'

/**
 * States of lending markets over time, ascending: the last one at or before {from}, and of those after it, up to {to}, the
 * last one before each bucket of {seconds} begins. Between two of them nothing happened but interest.
 */
function defineSeries<C extends z.ZodRawShape>(of: {
  name: string
  table: string
  /** The rows of one market, by columns that the table is ordered by. */
  key: string
  /** SQL by column. */
  columns: { [K in keyof C]: string }
  row: C
}) {
  const columns = Object.entries<string>(of.columns).map(([name, sql]) => `${sql} AS ${name}`)
  const row = z.object({ at: uint, block: uint, ...of.row })
  const rows = `SELECT *, toUnixTimestamp(timestamp) AS seconds_at FROM ${of.table} WHERE ${VISIBLE} AND ${of.key}`
  const at = (name: string) => `toDateTime({${name}:UInt32}, 'UTC')`
  return {
    first: defineQuery({
      name: `${of.name}_first`,
      sql: `SELECT toUnixTimestamp(timestamp) AS at FROM ${of.table} WHERE ${VISIBLE} AND ${of.key} ORDER BY timestamp LIMIT 1`,
      row: z.object({ at: uint }),
    }),
    states: defineQuery({
      name: of.name,
      sql: `SELECT seconds_at AS at, s.block_number AS block, ${columns.join(', ')} FROM (
          SELECT * FROM (${rows} AND timestamp <= ${at('from')} ORDER BY timestamp DESC, position DESC LIMIT 1)
          UNION ALL
          SELECT * FROM (${rows} AND timestamp > ${at('from')} AND timestamp <= ${at('to')}
            ORDER BY timestamp DESC, position DESC LIMIT 1 BY intDiv(seconds_at + {seconds:UInt32} - 1, {seconds:UInt32}))
        ) AS s ORDER BY at`,
      row,
    }),
  }
}

const text = (name: string) => `toString(s.${name})`

export const morphoStates = defineSeries({
  name: 'morpho_states',
  table: 'morpho_state',
  key: 'market = {market:String}',
  columns: {
    supply_assets: text('supply_assets'),
    supply_shares: text('supply_shares'),
    borrow_assets: text('borrow_assets'),
    borrow_shares: text('borrow_shares'),
    collateral: text('collateral'),
    last_update: 's.last_update',
    fee: text('fee_wad'),
    borrow_rate: text('borrow_rate_wad'),
  },
  row: {
    supply_assets: z.string(),
    supply_shares: z.string(),
    borrow_assets: z.string(),
    borrow_shares: z.string(),
    collateral: z.string(),
    last_update: z.number(),
    fee: z.string(),
    borrow_rate: z.string().nullable(),
  },
})

/** Of the adaptive rate model. */
export const morphoTargets = defineSeries({
  name: 'morpho_targets',
  table: 'morpho_rate',
  key: 'market = {market:String}',
  columns: { rate: text('rate_at_target_wad') },
  row: { rate: z.string() },
})

/** Of other rate models. */
export const morphoRates = defineSeries({
  name: 'morpho_rates',
  table: 'morpho_sampled_rate',
  key: 'market = {market:String}',
  columns: { rate: text('rate_wad') },
  row: { rate: z.string() },
})

export const aaveIndexes = defineSeries({
  name: 'aave_indexes',
  table: 'aave_index',
  key: 'pool = {pool:String} AND asset = {asset:String}',
  columns: {
    liquidity_rate: text('liquidity_rate'),
    borrow_rate: text('variable_borrow_rate'),
    liquidity_index: text('liquidity_index'),
    borrow_index: text('variable_borrow_index'),
  },
  row: {
    liquidity_rate: z.string(),
    borrow_rate: z.string(),
    liquidity_index: z.string(),
    borrow_index: z.string(),
  },
})

export const aaveScaledTotals = defineSeries({
  name: 'aave_scaled_totals',
  table: 'aave_total',
  key: 'token = {token:String}',
  columns: { scaled: text('scaled') },
  row: { scaled: z.string() },
})

export const aaveRevisions = defineSeries({
  name: 'aave_revisions',
  table: 'aave_revision',
  key: 'token = {token:String}',
  columns: { revision: 's.revision' },
  row: { revision: z.number() },
})

const cometTotals = ['supply_index', 'borrow_index', 'supply_principal', 'borrow_principal'] as const
const cometRates = (['supply', 'borrow'] as const).flatMap(side =>
  (['kink', 'rate_base', 'rate_slope_low', 'rate_slope_high'] as const).map(
    name => `${side}_${name}_wad` as const,
  ),
)
type Texts<K extends string> = { [N in K]: z.ZodString }
const shapeOf = <K extends string>(names: readonly K[]) =>
  Object.fromEntries(names.map(name => [name, z.string()])) as Texts<K>
const sqlOf = <K extends string>(names: readonly K[]) =>
  Object.fromEntries(names.map(name => [name, text(name)])) as { [N in K]: string }

export const cometStates = defineSeries({
  name: 'comet_states',
  table: 'comet_state',
  key: 'comet = {comet:String}',
  columns: { ...sqlOf(cometTotals), updated_at: 's.updated_at' },
  row: { ...shapeOf(cometTotals), updated_at: z.number() },
})

export const cometConfigurations = defineSeries({
  name: 'comet_configurations',
  table: 'comet_market',
  key: 'comet = {comet:String}',
  columns: sqlOf(cometRates),
  row: shapeOf(cometRates),
})

export const cometCollateralTotals = defineSeries({
  name: 'comet_collateral_totals',
  table: 'comet_collateral_total',
  key: 'comet = {comet:String} AND asset = {asset:String}',
  columns: { total: text('total') },
  row: { total: z.string() },
})

export const evkStates = defineSeries({
  name: 'evk_states',
  table: 'evk_status',
  key: 'vault = {vault:String}',
  columns: {
    total_shares: text('total_shares'),
    total_borrows: text('total_borrows'),
    accumulated_fees: text('accumulated_fees'),
    cash: text('cash'),
    accumulator: text('accumulator_ray'),
    interest_rate: text('interest_rate_ray'),
  },
  row: {
    total_shares: z.string(),
    total_borrows: z.string(),
    accumulated_fees: z.string(),
    cash: z.string(),
    accumulator: z.string(),
    interest_rate: z.string(),
  },
})

export const evkOwed = defineSeries({
  name: 'evk_owed',
  table: 'evk_total',
  key: 'vault = {vault:String}',
  columns: { owed: text('owed'), accumulator: text('accumulator_ray') },
  row: { owed: z.string(), accumulator: z.string() },
})

/** Fees of the interest, scaled by 1e18. */
export const evkFees = defineSeries({
  name: 'evk_fees',
  table: 'vault_setting',
  key: "vault = {vault:String} AND setting = 'fee:reserve' AND market = ''",
  columns: { fee: text('value') },
  row: { fee: z.string().nullable() },
})
