import { groupBy } from '../../db/group-by.ts'
import { isRebasing } from '../../db/protocols.ts'
import { HOUR } from '../../db/units.ts'
import { keyOf } from '../catalogue/catalogue.ts'
import { legsOf, type PricePlan, priceOf } from '../catalogue/prices.ts'
import { NO_REWARD } from '../catalogue/rewards.ts'
import type { Vault } from '../catalogue/vault.ts'
import { type RateWire, rate } from '../catalogue/wire.ts'
import { usdOf } from '../http/amounts.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import { inChunks } from '../moment/chunks.ts'
import { ask } from '../moment/query.ts'
import type { ApyInterval } from '../vaults/history-queries.ts'
import { pastRewards } from '../vaults/past-rewards.ts'
import { plansOver } from '../vaults/price-history.ts'
import { assetsOf, shareStateOf } from '../vaults/share-value.ts'
import type { StateRow } from './queries.ts'
import { apysAt, feedsAt, newestBalances, statesAt, theseBalancesAt } from './queries.ts'

/** Samples and feeds are looked for this far back first, and without a bound only where that finds none. */
const USUAL_AGE = 26 * HOUR

/** What a wallet held of a vault at a moment, with the figures of that moment; what was not known then is undefined. */
export interface BalanceAt {
  vault: Vault
  /** Share base units. */
  balance: bigint
  /** Base units of the vault's asset that the account held besides: known where that is itself the share of a vault. */
  assetBalance: bigint | undefined
  state: StateRow | undefined
  /** Of the interval asked for: from the share price, and from rewards. */
  apy: RateWire
  /** Both together. */
  apys: Record<ApyInterval, number | undefined>
  /** USD of one whole asset. */
  assetPrice: number | undefined
  tvlUsd: number | undefined
  /** Asset base units. */
  value: bigint | undefined
  valueUsd: number | undefined
}

/**
 * Every vault that is shown and of which the account held shares at the moment, on every chain; how many others there
 * were. Balances and figures are read side by side,
 * of all vaults that the account ever held.
 */
export async function readBalancesAt(
  account: string,
  at: number,
  interval: ApyInterval,
  context: EndpointContext,
): Promise<{ balances: BalanceAt[]; leftOut: Vault[] }> {
  const { deps, catalogue, shown, signal } = context
  const ever = new Map<string, Vault>()
  for (const row of await ask(deps.clickhouse, newestBalances, { account }, signal)) {
    const vault = catalogue.find(row.chain_id, row.vault)
    if (vault) ever.set(keyOf(row.chain_id, row.vault), vault)
  }
  const [balances, figures] = await Promise.all([
    readBalances(account, [...ever.values()], at, context),
    readFiguresAt(
      [...ever.values()].filter(vault => shown.has(vault)),
      at,
      context,
    ),
  ])
  const all = [...ever].flatMap(([key, vault]) => {
    const balance = balances.get(key) ?? 0n
    return balance > 0n ? [{ vault, balance }] : []
  })
  const held = all.filter(({ vault }) => shown.has(vault))
  const described = await Promise.all(
    held.map(async ({ vault, balance }) => {
      const { tvlUsd, ...known } = describe(vault, balance, figures)
      const { chainId: chain, address } = vault.state
      const pinned = { chain, p: catalogue.chain(chain)?.position ?? 0, vault: address }
      const [reward = NO_REWARD] = await pastRewards({ vault, pinned }, [{ at, tvlUsd }], context)
      const base = figures.apys.get(keyOf(chain, address))
      const total = (of: ApyInterval) => {
        const own = apysOf(base)[of]
        return own === undefined ? undefined : own + reward[of]
      }
      const isCounted = vault.inner?.userEventsIndexed && !isRebasing(vault.inner.state.protocol)
      const inner = isCounted && vault.inner ? keyOf(chain, vault.inner.state.address) : undefined
      return {
        ...known,
        assetBalance: inner === undefined ? undefined : (balances.get(inner) ?? 0n),
        tvlUsd,
        apy: rate(apysOf(base)[interval], reward[interval]),
        apys: { '1day': total('1day'), '7day': total('7day'), '30day': total('30day') },
      }
    }),
  )
  return { balances: described, leftOut: all.flatMap(({ vault }) => (shown.has(vault) ? [] : [vault])) }
}

/** Share base units, by the vault's key. */
async function readBalances(
  account: string,
  vaults: readonly Vault[],
  at: number,
  { deps, catalogue, signal }: EndpointContext,
): Promise<Map<string, bigint>> {
  const balances = new Map<string, bigint>()
  await Promise.all(
    [...groupBy(vaults, ({ state }) => state.chainId)].map(async ([chain, there]) => {
      const pinned = { chain, p: catalogue.chain(chain)?.position ?? 0, account, at }
      const rows = await inChunks(
        there.map(({ state }) => state.address),
        names => ask(deps.clickhouse, theseBalancesAt, { ...pinned, vaults: names }, signal),
      )
      for (const { vault, balance } of rows) balances.set(keyOf(chain, vault), BigInt(balance))
    }),
  )
  return balances
}

interface FiguresAt {
  /** How prices were made then, by the asset's key. */
  plans: Map<string, PricePlan | undefined>
  states: Map<string, StateRow>
  apys: Map<string, Record<'apy_1h' | 'apy_1d' | 'apy_7d' | 'apy_30d', number | null>>
  feeds: Map<string, { price: number; reported_at: number }>
  at: number
}

/** States, APYs and feeds at a moment: of these vaults, and of whatever their assets' prices are made of. */
async function readFiguresAt(
  vaults: readonly Vault[],
  at: number,
  { deps, catalogue, signal, touch }: EndpointContext,
): Promise<FiguresAt> {
  const wanted = new Map<number, { vaults: Set<string>; apys: Set<string>; feeds: Set<string> }>()
  const on = (chainId: number) => {
    const of = wanted.get(chainId) ?? { vaults: new Set(), apys: new Set(), feeds: new Set() }
    wanted.set(chainId, of)
    return of
  }
  const plans = new Map<string, PricePlan | undefined>()
  for (const { state, asset } of vaults) {
    on(state.chainId).vaults.add(state.address)
    on(state.chainId).apys.add(state.address)
    const plan = plansOver(catalogue, asset, { from: at, to: at })[0]?.plan
    plans.set(asset.key, plan)
    for (const leg of plan ? legsOf(plan) : []) {
      if ('feed' in leg) on(leg.chainId).feeds.add(leg.feed)
      else on(leg.chainId).vaults.add(leg.vault)
    }
  }
  const figures: FiguresAt = { plans, states: new Map(), apys: new Map(), feeds: new Map(), at }
  await Promise.all(
    [...wanted].map(async ([chain, of]) => {
      touch(chain)
      const pinned = { chain, p: catalogue.chain(chain)?.position ?? 0, at }
      const [states, apys, feeds] = await Promise.all([
        recentFirst([...of.vaults], at, (names, since) =>
          ask(deps.clickhouse, statesAt, { ...pinned, since, vaults: names }, signal),
        ),
        recentFirst([...of.apys], at, (names, since) =>
          ask(deps.clickhouse, apysAt, { ...pinned, since, vaults: names }, signal),
        ),
        recentFirst([...of.feeds], at, async (names, since) =>
          (await ask(deps.clickhouse, feedsAt, { ...pinned, since, feeds: names }, signal)).map(row => ({
            ...row,
            vault: row.feed,
          })),
        ),
      ])
      for (const row of states) figures.states.set(keyOf(chain, row.vault), row)
      for (const row of apys) figures.apys.set(keyOf(chain, row.vault), row)
      for (const row of feeds) figures.feeds.set(keyOf(chain, row.feed), row)
    }),
  )
  return figures
}

/** Asks with a bound on age, then without for those that had nothing in it. */
export async function recentFirst<T extends { vault: string }>(
  names: string[],
  at: number,
  read: (names: string[], since: number) => Promise<T[]>,
): Promise<T[]> {
  const recent = await inChunks(names, chunk => read(chunk, Math.max(0, at - USUAL_AGE)))
  const found = new Set(recent.map(({ vault }) => vault))
  const missing = names.filter(name => !found.has(name))
  return [...recent, ...(await inChunks(missing, chunk => read(chunk, 0)))]
}

function describe(
  vault: Vault,
  balance: bigint,
  figures: FiguresAt,
): Omit<BalanceAt, 'apy' | 'apys' | 'assetBalance'> {
  const key = keyOf(vault.state.chainId, vault.state.address)
  const state = figures.states.get(key)
  const assetPrice = priceOf(
    figures.plans.get(vault.asset.key),
    (chainId, inner) => figures.states.get(keyOf(chainId, inner))?.share_price ?? undefined,
    (chainId, feed, age) => {
      const report = figures.feeds.get(keyOf(chainId, feed))
      return report && figures.at - report.reported_at <= age ? report.price : undefined
    },
  )
  const value =
    state &&
    assetsOf(balance, shareStateOf(state), {
      decimals: vault.state.decimals,
      assetDecimals: vault.asset.decimals,
    })
  const usd = (amount: bigint | undefined) =>
    amount === undefined ? undefined : usdOf(amount, vault.asset.decimals, assetPrice)
  return {
    vault,
    balance,
    state,
    assetPrice,
    tvlUsd: usd(state?.total_assets == null ? undefined : BigInt(state.total_assets)),
    value,
    valueUsd: usd(value),
  }
}

function apysOf(
  row: Record<'apy_1h' | 'apy_1d' | 'apy_7d' | 'apy_30d', number | null> | undefined,
): Record<ApyInterval, number | undefined> {
  return {
    '1day': row?.apy_1d ?? undefined,
    '7day': row?.apy_7d ?? undefined,
    '30day': row?.apy_30d ?? undefined,
  }
}
