import type { DomainEvent } from '../../db/events/vocabulary.ts'

/** And what tokens of v3.5 say at the end of the block of what their mints amount to. */
export const withSamples = (acts: readonly DomainEvent[]): DomainEvent[] => [
  ...acts,
  ...acts.flatMap((act): DomainEvent[] => {
    if (act.type !== 'ScaledMinted' || act.data.side === 'stableDebt') return []
    const { onBehalf: account, value: scaled } = act.data
    const data = { account, scaled, total: scaled * 3n }
    return [{ type: 'ScaledBalanceSampled', contract: act.contract, data }]
  }),
]
