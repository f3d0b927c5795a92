import { z } from 'zod'
import { defineProjection } from '../projection.ts'

const at = { timestamp: z.number(), position: z.number(), block_number: z.number() }

/** What moves totals or positions. */
const ACTS = [
  'MarketCreated',
  'Supplied',
  'Withdrawn',
  'CollateralSupplied',
  'CollateralWithdrawn',
  'Borrowed',
  'Repaid',
  'Liquidated',
  'InterestAccrued',
  'FeeChanged',
] as const

/** Morpho Blue: markets as created, who is given fees, totals of markets and positions after each change. */
export default defineProjection({
  name: 'morpho_market',
  version: 1,
  handles: ['MarketCreated'],
  face: 'lending',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    morpho: z.string(),
    market: z.string(),
    ...at,
    loan_asset: z.string(),
    collateral_asset: z.string().nullable(),
    oracle: z.string().nullable(),
    irm: z.string().nullable(),
    lltv_wad: z.string(),
  }),
  beside: [
    {
      name: 'morpho_fee_recipient',
      handles: ['OwnerChanged'],
      row: z.object({ chain_id: z.number(), morpho: z.string(), ...at, account: z.string() }),
    },
    {
      name: 'morpho_state',
      handles: ACTS,
      row: z.object({
        chain_id: z.number(),
        morpho: z.string(),
        market: z.string(),
        ...at,
        supply_assets: z.string(),
        supply_shares: z.string(),
        borrow_assets: z.string(),
        borrow_shares: z.string(),
        collateral: z.string(),
        last_update: z.number(),
        fee_wad: z.string(),
        borrow_rate_wad: z.string().nullable(),
      }),
    },
    {
      name: 'morpho_position',
      handles: ACTS,
      row: z.object({
        chain_id: z.number(),
        morpho: z.string(),
        account: z.string(),
        market: z.string(),
        ...at,
        supply_shares: z.string(),
        borrow_shares: z.string(),
        collateral: z.string(),
      }),
    },
  ],
})
