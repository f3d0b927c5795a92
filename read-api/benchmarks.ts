import { toWhole } from './amounts.ts'
import type { AssetInfo } from './catalogue/assets.ts'
import type { Catalogue } from './catalogue/catalogue.ts'
import { NO_REWARD } from './catalogue/rewards.ts'
import type { Vault } from './catalogue/vault.ts'
import type { RateWire } from './catalogue/wire.ts'
import { rate } from './catalogue/wire.ts'
import type { EndpointContext } from './endpoint.ts'
import { pastRewards } from './past-rewards.ts'
import { pricesAt } from './price-history.ts'
import { benchmarkDays } from './queries/benchmarks.ts'
import { groupBy } from './queries/chunks.ts'
import { ask } from './queries/query.ts'

/** Symbols of the assets of each benchmark, lower-case. */
const SYMBOLS = {
  usd: new Set(['usdc', 'usdt', 'dai', 'usds', 'usde']),
  eth: new Set(['eth', 'weth']),
} as const

export const BENCHMARK_CODES = ['usd', 'eth'] as const
export type BenchmarkCode = (typeof BENCHMARK_CODES)[number]

const WINDOWS = ['1day', '7day', '30day'] as const
type BenchmarkWindow = (typeof WINDOWS)[number]

/** The largest vaults count, and of these only those of at least so many USD. */
export const LARGEST = 5
export const LEAST_TVL_USD = 1_000_000

export interface Weighed {
  tvlUsd: number
  apy: Readonly<Record<BenchmarkWindow, number>>
  reward: Readonly<Record<BenchmarkWindow, number>>
}

/** The mean APY of the largest vaults, weighted by their TVL; null where none is large enough. */
export function benchmarkOf(vaults: readonly Weighed[]): Record<BenchmarkWindow, RateWire> | null {
  const largest = vaults
    .filter(({ tvlUsd }) => tvlUsd >= LEAST_TVL_USD)
    .sort((a, b) => b.tvlUsd - a.tvlUsd)
    .slice(0, LARGEST)
  const total = largest.reduce((sum, { tvlUsd }) => sum + tvlUsd, 0)
  if (total === 0) return null
  const mean = (of: (vault: Weighed) => number) =>
    largest.reduce((sum, vault) => sum + vault.tvlUsd * of(vault), 0) / total
  return Object.fromEntries(
    WINDOWS.map(window => [
      window,
      rate(
        mean(({ apy }) => apy[window]),
        mean(({ reward }) => reward[window]),
      ),
    ]),
  ) as Record<BenchmarkWindow, RateWire>
}

/** Vaults of a network whose asset is one of the benchmark's. */
export function vaultsOf(catalogue: Catalogue, chainId: number, code: BenchmarkCode): Vault[] {
  return catalogue.identity.filter(
    vault => vault.state.chainId === chainId && SYMBOLS[code].has(vault.asset.symbol.toLowerCase()),
  )
}

/** Now. A vault that is corrupted, or whose TVL or APY is not known, does not count. */
export function presentBenchmark(vaults: readonly Vault[]) {
  return benchmarkOf(
    vaults.flatMap(({ tvlUsd, apy, reward, isCorrupted }) => {
      const { '1day': day, '7day': week, '30day': month } = apy
      if (isCorrupted || tvlUsd === undefined) return []
      if (day === undefined || week === undefined || month === undefined) return []
      return [{ tvlUsd, apy: { '1day': day, '7day': week, '30day': month }, reward }]
    }),
  )
}

/**
 * By day (unix seconds of its start): the benchmark of the first samples of the day, at the asset's price of their
 * moment. A day without a large enough vault is not in the map. A vault that is corrupted now never counts.
 */
export async function pastBenchmarks(
  vaults: readonly Vault[],
  days: { from: number; to: number },
  context: EndpointContext,
): Promise<Map<number, ReturnType<typeof benchmarkOf>>> {
  const assets = new Map<string, AssetInfo>()
  for (const { asset } of vaults) assets.set(asset.address, asset)
  const corrupted = vaults.filter(({ isCorrupted }) => isCorrupted).map(({ state }) => state.address)
  const byDay = new Map<number, Weighed[]>()
  await Promise.all(
    [...assets.values()].map(async asset => {
      const { deps, catalogue, signal } = context
      const p = catalogue.chain(asset.chainId)?.position ?? 0
      const rows = await ask(
        deps.clickhouse,
        benchmarkDays,
        // Vaults of one asset have one price: the largest of all are among the largest of each asset.
        { chain: asset.chainId, p, asset: asset.address, ...days, corrupted, largest: LARGEST },
        signal,
      )
      rows.sort((a, b) => a.at - b.at)
      const prices = await pricesAt(
        asset,
        rows.map(({ at }) => at),
        context,
      )
      const valued = rows.flatMap((row, i) => {
        const price = prices[i]
        return price === undefined
          ? []
          : [{ row, at: row.at, tvlUsd: toWhole(BigInt(row.total_assets), asset.decimals) * price }]
      })
      await Promise.all(
        [...groupBy(valued, ({ row }) => row.vault)].map(async ([address, moments]) => {
          const vault = catalogue.find(asset.chainId, address)
          if (!vault) return
          const pinned = { chain: asset.chainId, p, vault: address }
          const rewards = await pastRewards({ vault, pinned }, moments, context)
          for (const [i, { row, tvlUsd }] of moments.entries()) {
            const of = byDay.get(row.day) ?? []
            byDay.set(row.day, of)
            const apy = { '1day': row.apy_1d, '7day': row.apy_7d, '30day': row.apy_30d }
            of.push({ tvlUsd, apy, reward: rewards[i] ?? NO_REWARD })
          }
        }),
      )
    }),
  )
  return new Map([...byDay].map(([day, weighed]) => [day, benchmarkOf(weighed)]))
}
