import type { Node } from '../chain/node.ts'
import { amountsOf, rootAt } from './uniswap.ts'
import { chainState, type IchiVault } from './world.ts'

/**
 * What a vault is worth at a block in the token that it takes, by its contract and Uniswap's SDK: positions as they would be at
 * the mean price, or at the price of the moment where the oracle does not answer.
 */
export async function worthAt(node: Node, vault: IchiVault, block: number) {
  const state = await chainState(node, vault, block)
  const ranges = [state.base, state.limit]
  const held = (root: bigint) =>
    ranges
      .map(range => amountsOf(range, root))
      .reduce<[bigint, bigint]>((sum, [a, b]) => [sum[0] + a, sum[1] + b], [0n, 0n])
  const root = state.meanTick === undefined ? state.sqrtPriceX96 : rootAt(state.meanTick)
  const [now, then] = [held(state.sqrtPriceX96), held(root)]
  const amounts: [bigint, bigint] = [state.total0 - now[0] + then[0], state.total1 - now[1] + then[1]]
  const takesSecond = vault.takes.some(({ address }) => address === vault.pool.token1.address)
  const at = (of: readonly [bigint, bigint]) =>
    takesSecond ? (of[0] * root * root) / 2n ** 192n + of[1] : of[0] + (of[1] * 2n ** 192n) / (root * root)
  return {
    ...state,
    amounts,
    value: at(amounts),
    /** The same with the amounts of the moment. */
    asHeld: at([state.total0, state.total1]),
  }
}
