import { z } from 'zod'
import { defineProjection } from '../projection.ts'

const at = { timestamp: z.number(), position: z.number(), block_number: z.number() }

/** Euler v2: what lending vaults say of themselves, debts with their fractions, LTVs, what accounts enabled. */
export default defineProjection({
  name: 'evk_status',
  version: 1,
  handles: ['VaultStatusChanged'],
  face: 'lending',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    vault: z.string(),
    ...at,
    total_shares: z.string(),
    total_borrows: z.string(),
    accumulated_fees: z.string(),
    cash: z.string(),
    accumulator_ray: z.string(),
    interest_rate_ray: z.string(),
  }),
  beside: [
    {
      name: 'evk_total',
      handles: ['DebtTotalSampled'],
      row: z.object({
        chain_id: z.number(),
        vault: z.string(),
        ...at,
        owed: z.string(),
        accumulator_ray: z.string(),
      }),
    },
    {
      name: 'evk_debt',
      handles: ['DebtSampled'],
      row: z.object({
        chain_id: z.number(),
        account: z.string(),
        vault: z.string(),
        ...at,
        owed: z.string(),
        accumulator_ray: z.string(),
      }),
    },
    {
      name: 'evk_ltv',
      handles: ['LtvChanged'],
      row: z.object({
        chain_id: z.number(),
        vault: z.string(),
        collateral: z.string(),
        ...at,
        borrow_ltv_bps: z.number(),
        liquidation_ltv_bps: z.number(),
        initial_liquidation_ltv_bps: z.number(),
        target_at: z.number(),
        ramp_seconds: z.number(),
      }),
    },
    {
      name: 'evk_enabled',
      handles: ['AccountCollateralChanged', 'AccountControllerChanged'],
      row: z.object({
        chain_id: z.number(),
        account: z.string(),
        role: z.string(),
        vault: z.string(),
        ...at,
        enabled: z.number(),
      }),
    },
    {
      name: 'evk_owner',
      handles: ['AccountOwnerRegistered'],
      row: z.object({ chain_id: z.number(), owner: z.string(), prefix: z.string(), ...at }),
    },
  ],
})
