import type { DomainEvent } from '../../db/events/vocabulary.ts'

/**
 * And what the state says beside the logs: what a reserve can pay out, and of pools of v3.5 the change of a scaled balance
 * and of which version the pool is.
 */
export const withState = (acts: readonly DomainEvent[]): DomainEvent[] =>
  acts.flatMap((act): DomainEvent[] => {
    if (act.type === 'RateUpdated' && act.data.liquidityIndexRay) {
      const data = { market: act.data.market, available: act.data.liquidityIndexRay }
      return [act, { type: 'ReserveLiquiditySampled', protocol: 'aave-v3', contract: act.contract, data }]
    }
    if (act.type !== 'ScaledMinted' || act.data.side === 'stableDebt' || act.data.value % 2n === 0n)
      return [act]
    const revision = { pool: act.contract, revision: Number(act.data.value % 12n) }
    return [
      { ...act, data: { ...act.data, scaledChange: act.data.value - 7n } },
      { type: 'PoolRevisionSampled', protocol: 'aave-v3', contract: act.contract, data: revision },
    ]
  })
