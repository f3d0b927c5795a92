import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { seededRandom } from '../chain/random.ts'
import { ammActs } from './amm-acts.ts'
import { cometActs } from './comet-acts.ts'
import { fixedTermActs } from './fixed-term-acts.ts'

/** Acts of further protocols, each by numbers of its own: the rest of the history does not depend on them. */
export function moreActs(seed: number) {
  const [comet, fixedTerm, amm] = [1_000, 2_000, 3_000].map(n => seededRandom(seed + n).next) as [
    () => number,
    () => number,
    () => number,
  ]
  return (accounts: readonly string[], at: { logIndex: number; time: number }): DomainEvent[] => [
    ...cometActs(comet, accounts, at),
    ...fixedTermActs(fixedTerm, accounts, { ...at, logIndex: at.logIndex + 100 }),
    ...ammActs(amm, accounts, { logIndex: at.logIndex + 200 }),
  ]
}
