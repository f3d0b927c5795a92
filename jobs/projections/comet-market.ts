import { z } from 'zod'
import { defineProjection } from '../projection.ts'

const at = { timestamp: z.number(), position: z.number(), block_number: z.number() }
const comet = { chain_id: z.number(), comet: z.string() }

/** Compound v3: configurations, sampled totals and principals, collateral balances after each change. */
export default defineProjection({
  name: 'comet_market',
  version: 1,
  handles: ['CometConfigured'],
  face: 'lending',
  streams: 'evm',
  row: z.object({
    ...comet,
    ...at,
    base_asset: z.string(),
    base_oracle: z.string(),
    base_scale: z.string(),
    base_borrow_min: z.string(),
    target_reserves: z.string(),
    store_front_price_factor_wad: z.string(),
    supply_kink_wad: z.string(),
    supply_rate_base_wad: z.string(),
    supply_rate_slope_low_wad: z.string(),
    supply_rate_slope_high_wad: z.string(),
    borrow_kink_wad: z.string(),
    borrow_rate_base_wad: z.string(),
    borrow_rate_slope_low_wad: z.string(),
    borrow_rate_slope_high_wad: z.string(),
  }),
  beside: [
    {
      name: 'comet_asset',
      handles: ['CometAssetConfigured'],
      row: z.object({
        ...comet,
        asset: z.string(),
        ...at,
        offset: z.number(),
        oracle: z.string(),
        scale: z.string(),
        borrow_collateral_factor_wad: z.string(),
        liquidate_collateral_factor_wad: z.string(),
        liquidation_factor_wad: z.string(),
        supply_cap: z.string(),
      }),
    },
    {
      name: 'comet_state',
      handles: ['CometStateSampled'],
      row: z.object({
        ...comet,
        ...at,
        supply_index: z.string(),
        borrow_index: z.string(),
        supply_principal: z.string(),
        borrow_principal: z.string(),
        updated_at: z.number(),
        pause_flags: z.number(),
        reserves: z.string().nullable(),
      }),
    },
    {
      name: 'comet_principal',
      handles: ['PrincipalSampled'],
      row: z.object({
        chain_id: z.number(),
        account: z.string(),
        comet: z.string(),
        ...at,
        principal: z.string(),
      }),
    },
    {
      name: 'comet_collateral',
      handles: ['CollateralSupplied', 'CollateralWithdrawn', 'CollateralTransferred', 'CollateralAbsorbed'],
      row: z.object({
        chain_id: z.number(),
        account: z.string(),
        comet: z.string(),
        asset: z.string(),
        ...at,
        delta: z.string(),
        balance: z.string(),
      }),
    },
    {
      name: 'comet_collateral_total',
      handles: ['CollateralSupplied', 'CollateralWithdrawn', 'CollateralTransferred', 'CollateralAbsorbed'],
      row: z.object({ ...comet, asset: z.string(), ...at, total: z.string() }),
    },
  ],
})
