import { z } from 'zod'
import { defineProjection } from '../projection.ts'

const at = { timestamp: z.number(), position: z.number(), block_number: z.number() }
const market = { chain_id: z.number(), market: z.string(), ...at }

/** Fixed-term markets: their tokens, sampled states, rates and trades, and who holds principal tokens. */
export default defineProjection({
  name: 'fixed_term_market',
  version: 1,
  handles: ['FixedTermTokensNamed'],
  face: 'fixed-term',
  streams: 'evm',
  row: z.object({
    ...market,
    protocol: z.string(),
    pt: z.string(),
    sy: z.string(),
    yt: z.string(),
    expiry: z.number(),
  }),
  beside: [
    {
      name: 'fixed_term_description',
      handles: ['FixedTermMarketDescribed'],
      row: z.object({
        ...market,
        name: z.string(),
        symbol: z.string(),
        decimals: z.number(),
        sy_decimals: z.number().nullable(),
        yield_token: z.string(),
        asset: z.string(),
        asset_decimals: z.number().nullable(),
        is_liquidity: z.number(),
      }),
    },
    {
      name: 'fixed_term_state',
      handles: ['FixedTermStateSampled'],
      row: z.object({
        ...market,
        total_pt: z.string(),
        total_sy: z.string(),
        total_lp: z.string(),
        ln_rate_wad: z.string(),
        pt_supply: z.string().nullable(),
        exchange_rate: z.string().nullable(),
        py_index: z.string().nullable(),
        oracle_rate_wad: z.string().nullable(),
      }),
    },
    {
      name: 'fixed_term_rate',
      handles: ['ImpliedRateUpdated'],
      row: z.object({ ...market, ln_rate_wad: z.string(), told_at: z.number() }),
    },
    {
      name: 'fixed_term_trade',
      handles: ['PrincipalSwapped', 'PoolLiquidityAdded', 'PoolLiquidityRemoved'],
      row: z.object({
        ...market,
        tx_hash: z.string(),
        log_index: z.number(),
        kind: z.string(),
        receiver: z.string(),
        pt_out: z.string(),
        sy_out: z.string(),
        sy_fee: z.string(),
        lp: z.string(),
        total_pt: z.string(),
        total_sy: z.string(),
      }),
    },
    {
      name: 'pt_balance',
      handles: ['PrincipalTransferred'],
      row: z.object({
        chain_id: z.number(),
        pt: z.string(),
        holder: z.string(),
        ...at,
        delta: z.string(),
        balance: z.string(),
      }),
    },
  ],
})
