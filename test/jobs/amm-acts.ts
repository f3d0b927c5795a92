import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { hex, ZERO } from './movements.ts'

/** Acts on a vault of liquidity, whether or not anybody could afford them: sums may fall below zero. */
export function ammActs(
  random: () => number,
  accounts: readonly string[],
  { logIndex }: { logIndex: number },
): DomainEvent[] {
  const int = (below: number) => Math.floor(random() * below)
  const pick = <T>(values: readonly T[]): T => values[int(values.length)] as T
  const vault = hex('a1', int(2))
  const [account, other] = [pick(accounts), pick(accounts)]
  const amount = pick([1n, 999n, 10n ** 18n, 123_456_789_012_345_678_901n])
  const told = { protocol: 'ichi', contract: vault }
  const log = { ...told, logIndex, transactionHash: hex('3e', int(1e6), 64) }
  const moved = { sender: other, to: account, shares: amount, amount0: amount + 1n, amount1: 0n }
  const tick = () => int(1_000) * 60 - 30_000
  const choices: (() => DomainEvent)[] = [
    () => ({
      type: 'AmmVaultCreated',
      ...log,
      contract: hex('a2', 0),
      data: { vault, creator: pick([hex('a3', 0), account]) },
    }),
    () => ({
      type: 'AmmVaultDescribed',
      ...told,
      data: {
        vault,
        name: 'A "vault"',
        symbol: 'IV',
        decimals: 18,
        pool: hex('a4', 0),
        token0: hex('bbb', 0),
        token1: hex('bbb', 1),
        ...pick([
          { takesToken0: true, takesToken1: false },
          { takesToken0: false, takesToken1: true },
        ]),
      },
    }),
    () => ({ type: 'AmmDeposited', ...log, data: moved }),
    () => ({ type: 'AmmWithdrawn', ...log, data: moved }),
    () => ({
      type: 'AmmRebalanced',
      ...log,
      data: { tick: tick(), total0: amount, total1: 5n, fee0: 0n, fee1: 7n, supply: amount * 3n },
    }),
    () => ({ type: 'AmmFeesCollected', ...log, data: { sender: other, fee0: amount, fee1: 3n } }),
    () => ({
      type: 'AmmShareTransferred',
      ...log,
      data: { from: pick([account, ZERO]), to: pick([other, account, ZERO]), shares: pick([amount, 0n]) },
    }),
    () => ({
      type: 'AmmVaultSampled',
      ...told,
      data: {
        total0: amount * 2n,
        total1: amount,
        supply: pick([0n, amount * 1_000n]),
        sqrtPriceX96: 2n ** 96n + BigInt(int(1e9)) * 2n ** 60n,
        ...pick([{}, { twapPeriod: 3_600, meanTick: tick() }]),
        ...pick([
          {},
          {
            baseLiquidity: pick([0n, amount]),
            baseLower: -600,
            baseUpper: 600,
            limitLiquidity: amount,
            limitLower: 600,
            limitUpper: 1_200,
          },
        ]),
      },
    }),
  ]
  return Array.from({ length: int(3) }, () => pick(choices)())
}
