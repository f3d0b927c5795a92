import type { DomainEvent } from '../../db/events/vocabulary.ts'

/** As of pools of v3.5: the change of the scaled balance beside what the log says, and of which version the pool is. */
export const ofDirectedPools = (acts: readonly DomainEvent[]): DomainEvent[] =>
  acts.flatMap((act): DomainEvent[] => {
    if (act.type !== 'ScaledMinted' || act.data.side === 'stableDebt' || act.data.value % 2n === 0n)
      return [act]
    const revision = { pool: act.contract, revision: Number(act.data.value % 12n) }
    return [
      { ...act, data: { ...act.data, scaledChange: act.data.value - 7n } },
      { type: 'PoolRevisionSampled', contract: act.contract, data: revision },
    ]
  })
