import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { hex, ZERO } from './movements.ts'

/** Acts on a fixed-term market and its tokens, whether or not anybody could afford them: sums may fall below zero. */
export function fixedTermActs(
  random: () => number,
  accounts: readonly string[],
  { logIndex, time }: { logIndex: number; time: number },
): DomainEvent[] {
  const int = (below: number) => Math.floor(random() * below)
  const pick = <T>(values: readonly T[]): T => values[int(values.length)] as T
  const n = int(2)
  const [market, pt, sy, yt] = ['f1', 'f2', 'f3', 'f4'].map(name => hex(name, n)) as [
    string,
    string,
    string,
    string,
  ]
  const [account, other] = [pick(accounts), pick(accounts)]
  const amount = pick([1n, 999n, 10n ** 18n, 123_456_789_012_345_678_901n])
  const told = { protocol: 'pendle-v2', contract: market }
  const log = { ...told, logIndex, transactionHash: hex('3e', int(1e6), 64) }
  const maybe = (value: bigint) => (int(4) === 0 ? undefined : value)
  const choices: (() => DomainEvent)[] = [
    () => ({
      type: 'FixedTermTokensNamed',
      ...told,
      data: { market, pt, sy, yt, expiry: time + pick([-5, 86_400, 8_640_000]) },
    }),
    () => ({
      type: 'FixedTermMarketDescribed',
      ...told,
      data: {
        market,
        name: 'PT of a "thing"',
        symbol: 'PT',
        decimals: pick([6, 18]),
        ...pick([{}, { syDecimals: 18, asset: hex('bbb', 0), assetDecimals: 6, yieldToken: sy }]),
        ...pick([{}, { isLiquidity: true as const }]),
      },
    }),
    () => ({
      type: 'ImpliedRateUpdated',
      ...log,
      data: { lnRateWad: BigInt(int(1e9)) * 10n ** 9n, at: pick([time, time + 2 ** 33]) },
    }),
    () => ({
      type: 'PrincipalSwapped',
      ...log,
      data: {
        caller: other,
        receiver: account,
        ptOut: pick([amount, -amount]),
        syOut: pick([amount, -amount]),
        syFee: 5n,
        syToReserve: BigInt(int(5)),
      },
    }),
    () => ({
      type: 'PoolLiquidityAdded',
      ...log,
      data: { receiver: account, lp: amount, sy: amount, pt: amount + 1n },
    }),
    () => ({
      type: 'PoolLiquidityRemoved',
      ...log,
      data: { receiverSy: account, receiverPt: other, lp: amount, sy: amount, pt: amount + 1n },
    }),
    () => ({
      type: 'PrincipalTransferred',
      ...log,
      contract: pt,
      data: { from: pick([account, ZERO]), to: pick([other, account, ZERO]), amount: pick([amount, 0n]) },
    }),
    () => ({
      type: 'FixedTermStateSampled',
      ...told,
      data: {
        totalPt: amount,
        totalSy: amount * 3n,
        totalLp: pick([0n, amount]),
        lnRateWad: BigInt(int(1e9)) * 10n ** 8n,
        ptSupply: maybe(amount * 2n),
        exchangeRate: maybe(10n ** 18n + BigInt(int(1e9))),
        pyIndex: maybe(10n ** 18n + BigInt(int(1e9))),
        oracleRateWad: maybe(10n ** 18n),
      },
    }),
  ]
  return Array.from({ length: int(3) }, () => pick(choices)())
}
