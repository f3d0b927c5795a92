import { amountsOf, rootAtTick, worthIn } from '../../../abi/ichi/math.ts'
import type { AmmFigures, AmmState, Pair, Side } from '../../amm/vault.ts'

/**
 * What a state comes to, rounded down. At the pool's mean price over time positions hold other amounts than at the price of the
 * moment, which whoever trades may choose: they are valued as they would be at the former. Where that cannot be told, all is of the moment.
 */
export function ichiFigures(state: AmmState, side: Side): AmmFigures {
  const { totals, supply, root, meanTick, positions } = state
  const spot = { amounts: totals, value: worthIn(side, totals, root), supply, isSpot: true }
  if (meanTick === undefined || !positions) return spot
  const mean = rootAtTick(meanTick)
  const held = (at: bigint): Pair => {
    const [base, limit] = positions.map(position => amountsOf(position, at))
    return [(base?.[0] ?? 0n) + (limit?.[0] ?? 0n), (base?.[1] ?? 0n) + (limit?.[1] ?? 0n)]
  }
  const [now, then] = [held(root), held(mean)]
  // Idle, and fees that are owed: what a vault says that it has, less what its positions are of.
  const idle: Pair = [totals[0] - now[0], totals[1] - now[1]]
  if (idle[0] < 0n || idle[1] < 0n) return spot
  const amounts: Pair = [idle[0] + then[0], idle[1] + then[1]]
  return { amounts, value: worthIn(side, amounts, mean), supply, isSpot: false }
}
