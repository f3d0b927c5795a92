import { defineProjection } from '../projection.ts'

/** Fixed-term markets: their tokens, sampled states, rates and trades, and who holds principal tokens. */
export default defineProjection({
  name: 'fixed_term_market',
  version: 1,
  handles: ['FixedTermTokensNamed'],
  face: 'fixed-term',
  streams: 'evm',
  beside: [
    { name: 'fixed_term_description', handles: ['FixedTermMarketDescribed'] },
    { name: 'fixed_term_state', handles: ['FixedTermStateSampled'] },
    { name: 'fixed_term_rate', handles: ['ImpliedRateUpdated'] },
    { name: 'fixed_term_trade', handles: ['PrincipalSwapped', 'PoolLiquidityAdded', 'PoolLiquidityRemoved'] },
    { name: 'pt_balance', handles: ['PrincipalTransferred'] },
  ],
})
