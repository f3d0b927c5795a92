import { z } from 'zod'
import { defineProjection } from '../projection.ts'

const at = { timestamp: z.number(), position: z.number(), block_number: z.number() }

/** Aave v3: reserves with their rates and indexes; what users chose, their scaled balances and the totals. */
export default defineProjection({
  name: 'aave_reserve',
  version: 1,
  handles: ['ReserveListed'],
  face: 'lending',
  streams: 'evm',
  row: z.object({
    chain_id: z.number(),
    configurator: z.string(),
    asset: z.string(),
    ...at,
    a_token: z.string(),
    variable_debt_token: z.string(),
  }),
  beside: [
    {
      name: 'aave_token',
      handles: ['ReserveTokenInitialized'],
      row: z.object({
        chain_id: z.number(),
        a_token: z.string(),
        ...at,
        pool: z.string(),
        asset: z.string(),
        decimals: z.number(),
        symbol: z.string(),
      }),
    },
    {
      name: 'aave_index',
      handles: ['RateUpdated'],
      row: z.object({
        chain_id: z.number(),
        pool: z.string(),
        asset: z.string(),
        ...at,
        liquidity_rate: z.string(),
        variable_borrow_rate: z.string(),
        liquidity_index: z.string(),
        variable_borrow_index: z.string(),
      }),
    },
    {
      name: 'aave_choice',
      handles: ['CollateralEnabled', 'CollateralDisabled', 'EModeChanged'],
      row: z.object({
        chain_id: z.number(),
        account: z.string(),
        pool: z.string(),
        market: z.string(),
        ...at,
        value: z.number(),
      }),
    },
    {
      name: 'aave_balance',
      handles: ['ScaledMinted', 'ScaledBurned', 'ScaledTransferred'],
      row: z.object({
        chain_id: z.number(),
        account: z.string(),
        token: z.string(),
        ...at,
        delta: z.string(),
        scaled: z.string(),
      }),
    },
    {
      name: 'aave_total',
      handles: ['ScaledMinted', 'ScaledBurned', 'ScaledTransferred'],
      row: z.object({ chain_id: z.number(), token: z.string(), ...at, scaled: z.string() }),
    },
  ],
})
