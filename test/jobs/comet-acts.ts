import type { DomainEvent } from '../../db/events/vocabulary.ts'
import { hex } from './streams.ts'

/** Acts on a Comet and what is sampled of it, by numbers of its own: the rest of the history does not depend on it. */
export function cometActs(
  random: () => number,
  accounts: readonly string[],
  { logIndex, time }: { logIndex: number; time: number },
): DomainEvent[] {
  const int = (below: number) => Math.floor(random() * below)
  const pick = <T>(values: readonly T[]): T => values[int(values.length)] as T
  const [account, other] = [pick(accounts), pick(accounts)]
  const contract = hex('fff', int(2))
  const asset = hex('bbb', int(2))
  const assets = pick([1n, 999n, 10n ** 18n, 123_456_789_012_345_678_901n])
  const read = { protocol: 'compound-v3', contract }
  const log = { protocol: 'compound-v3', contract, logIndex, transactionHash: hex('2e', int(1e6), 64) }
  const evk = { ...log, protocol: 'euler-v2', contract: hex('99', int(2)) }
  const moved = { market: contract, asset, assets }
  const rates = {
    supplyKinkWad: 8n,
    supplyRateBaseWad: 0n,
    supplyRateSlopeLowWad: 3n,
    supplyRateSlopeHighWad: 9n,
  }
  const choices: (() => DomainEvent)[] = [
    () => ({
      type: 'CollateralSupplied',
      ...log,
      data: { ...moved, sender: other, onBehalf: account },
    }),
    () => ({
      type: 'CollateralWithdrawn',
      ...log,
      data: { ...moved, sender: account, onBehalf: account, receiver: other },
    }),
    () => ({ type: 'CollateralTransferred', ...log, data: { ...moved, from: account, to: other } }),
    () => ({
      type: 'CollateralAbsorbed',
      ...log,
      data: { ...moved, absorber: other, borrower: account },
    }),
    () => ({
      type: 'DebtAbsorbed',
      ...log,
      data: { market: contract, absorber: other, borrower: account, assets },
    }),
    () => ({
      type: 'CometConfigured',
      ...read,
      data: {
        market: contract,
        baseAsset: asset,
        baseOracle: other,
        baseScale: 10n ** 6n,
        baseBorrowMin: assets,
        targetReserves: assets,
        storeFrontPriceFactorWad: 5n,
        ...rates,
        borrowKinkWad: 8n,
        borrowRateBaseWad: BigInt(int(99)),
        borrowRateSlopeLowWad: 3n,
        borrowRateSlopeHighWad: 9n,
        assetCount: 2,
      },
    }),
    () => ({
      type: 'CometAssetConfigured',
      ...read,
      data: {
        market: contract,
        asset,
        offset: int(3),
        oracle: other,
        scale: 10n ** 18n,
        borrowCollateralFactorWad: 7n,
        liquidateCollateralFactorWad: 8n,
        liquidationFactorWad: 9n,
        supplyCap: assets,
      },
    }),
    () => ({
      type: 'CometStateSampled',
      ...read,
      data: {
        market: contract,
        supplyIndex: 10n ** 15n + BigInt(int(1e9)),
        borrowIndex: 10n ** 15n + BigInt(int(1e9)),
        supplyPrincipal: assets,
        borrowPrincipal: 0n,
        updatedAt: time,
        pauseFlags: int(32),
        assets: pick([-assets, undefined]),
      },
    }),
    () => ({
      type: 'PrincipalSampled',
      ...read,
      data: { market: contract, account, principal: pick([assets, -assets, 0n]) },
    }),
    () => ({
      type: 'OraclePriceSampled',
      ...pick([
        {
          ...read,
          data: { market: contract, asset, oracle: other, price: assets },
        },
        {
          protocol: 'morpho-blue',
          contract: hex('ccc', 0),
          data: { market: hex('aaa', int(2), 64), oracle: other, price: assets },
        },
      ]),
    }),
    () => ({
      type: 'RateAtTargetChanged',
      ...log,
      protocol: 'morpho-blue',
      data: { market: hex('aaa', int(2), 64), averageRateWad: assets, rateAtTargetWad: BigInt(int(1e9)) },
    }),
    () => ({
      type: 'BorrowRateSampled',
      protocol: 'morpho-blue',
      contract: hex('ccc', 0),
      data: { market: hex('aaa', int(2), 64), rateWad: assets },
    }),
    () => ({
      type: 'VaultStatusChanged',
      ...evk,
      data: {
        market: evk.contract,
        totalShares: assets,
        totalBorrows: assets,
        accumulatedFees: 1n,
        cash: 0n,
        accumulatorRay: 10n ** 27n + assets,
        interestRateRay: BigInt(int(1e9)),
      },
    }),
    () => ({
      type: 'DebtTotalSampled',
      protocol: 'euler-v2',
      contract: evk.contract,
      data: { market: evk.contract, owed: assets << 31n, accumulatorRay: 10n ** 27n },
    }),
    () => ({
      type: 'DebtSampled',
      protocol: 'euler-v2',
      contract: evk.contract,
      data: { market: evk.contract, account, owed: assets << 31n, accumulatorRay: 10n ** 27n },
    }),
    () => ({
      type: 'LtvChanged',
      ...evk,
      data: {
        market: evk.contract,
        collateral: asset,
        borrowLtvBps: 8_000,
        liquidationLtvBps: 8_500,
        initialLiquidationLtvBps: int(9_000),
        targetAt: time,
        rampSeconds: int(9_000),
      },
    }),
    () => ({
      type: pick(['AccountCollateralChanged', 'AccountControllerChanged'] as const),
      ...evk,
      data: { account, vault: asset, enabled: int(2) === 0 },
    }),
    () => ({
      type: 'AccountOwnerRegistered',
      ...evk,
      data: { prefix: account.slice(0, 40), owner: account },
    }),
    () => ({
      type: 'AssetDescribed',
      protocol: 'erc-20',
      contract: asset,
      data: { asset, name: 'a "name"', symbol: 'MKR', decimals: int(19) },
    }),
  ]
  return Array.from({ length: int(4) }, (_, i) => {
    const event = pick(choices)()
    return event.logIndex === undefined ? event : { ...event, logIndex: event.logIndex + i }
  })
}
