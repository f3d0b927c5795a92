import { groupBy } from '../../db/group-by.ts'
import type { Shown } from '../catalogue/catalogue.ts'
import { NO_REWARD } from '../catalogue/rewards.ts'
import type { Vault } from '../catalogue/vault.ts'
import type { RateWire } from '../catalogue/wire.ts'
import { rate } from '../catalogue/wire.ts'
import { toWhole } from '../http/amounts.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { inChunks } from '../moment/chunks.ts'
import { ask } from '../moment/query.ts'
import { benchmarkDays } from './benchmark-queries.ts'
import { pastRewards } from './past-rewards.ts'
import { pricesAt } from './price-history.ts'

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
  apy: Readonly<Record<BenchmarkWindow, number | undefined>>
  reward: Readonly<Record<BenchmarkWindow, number>>
}

/**
 * The mean APY of the largest vaults, weighted by their TVL, of each window over those that have a value in it; null where
 * none is large enough. A window without any goes out as 0, as everywhere on the wire.
 */
export function benchmarkOf(vaults: readonly Weighed[]): Record<BenchmarkWindow, RateWire> | null {
  const largest = vaults
    .filter(({ tvlUsd }) => tvlUsd >= LEAST_TVL_USD)
    .sort((a, b) => b.tvlUsd - a.tvlUsd)
    .slice(0, LARGEST)
  if (largest.length === 0) return null
  const rates = WINDOWS.map(window => {
    const known = largest.filter(({ apy }) => apy[window] !== undefined)
    const total = known.reduce((sum, { tvlUsd }) => sum + tvlUsd, 0)
    const mean = (of: 'apy' | 'reward') =>
      known.reduce((sum, one) => sum + (one.tvlUsd / total) * (one[of][window] ?? 0), 0)
    return [window, rate(mean('apy'), mean('reward'))]
  })
  return Object.fromEntries(rates) as Record<BenchmarkWindow, RateWire>
}

/** Vaults that are shown of a network whose asset is one of the benchmark's. */
export function vaultsOf(shown: Shown, chainId: number, code: BenchmarkCode): Vault[] {
  return shown.vaults.filter(isOf(chainId, code))
}

/** How many would be among them but for their standing. */
export function leftOutOf(shown: Shown, chainId: number, code: BenchmarkCode): number {
  return shown.leftOut.filter(isOf(chainId, code)).length
}

const isOf =
  (chainId: number, code: BenchmarkCode) =>
  ({ state, asset }: Vault) =>
    state.chainId === chainId && SYMBOLS[code].has(asset.symbol.toLowerCase())

/** Now. A vault that is corrupted, or whose TVL is not known, does not count. */
export function presentBenchmark(vaults: readonly Vault[]) {
  return benchmarkOf(
    vaults.flatMap(({ tvlUsd, apy, reward, isCorrupted }) => {
      const isKnown = WINDOWS.some(window => apy[window] !== undefined)
      return isCorrupted || tvlUsd === undefined || !isKnown ? [] : [{ tvlUsd, apy, reward }]
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
  const counted = groupBy(
    vaults.filter(({ isCorrupted }) => !isCorrupted),
    ({ asset }) => asset,
  )
  const byDay = new Map<number, Weighed[]>()
  await Promise.all(
    [...counted].map(async ([asset, of]) => {
      const { deps, catalogue, signal } = context
      const p = catalogue.chain(asset.chainId)?.position ?? 0
      // Vaults of one asset have one price: the largest of all are among the largest of each asset.
      const pinned = { chain: asset.chainId, p, ...days, largest: LARGEST }
      const rows = await inChunks(
        of.map(({ state }) => state.address),
        names => ask(deps.clickhouse, benchmarkDays, { ...pinned, vaults: names }, signal),
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
            const apy = {
              '1day': row.apy_1d ?? undefined,
              '7day': row.apy_7d ?? undefined,
              '30day': row.apy_30d ?? undefined,
            }
            of.push({ tvlUsd, apy, reward: rewards[i] ?? NO_REWARD })
          }
        }),
      )
    }),
  )
  return new Map([...byDay].map(([day, weighed]) => [day, benchmarkOf(weighed)]))
}
