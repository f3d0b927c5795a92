import { usdOf } from './amounts.ts'
import { keyOf } from './catalogue/catalogue.ts'
import { type PricePlan, priceOf } from './catalogue/prices.ts'
import { NO_REWARD } from './catalogue/rewards.ts'
import type { Vault } from './catalogue/vault.ts'
import { type RateWire, rate } from './catalogue/wire.ts'
import type { EndpointContext } from './endpoint.ts'
import { pastRewards } from './past-rewards.ts'
import { legsOf, plansOver } from './price-history.ts'
import type { StateRow } from './queries/accounts.ts'
import { apysAt, feedsAt, newestBalances, statesAt, theseBalancesAt } from './queries/accounts.ts'
import { groupBy, inChunks } from './queries/chunks.ts'
import type { ApyInterval } from './queries/history.ts'
import { ask } from './queries/query.ts'
import { assetsOf, shareStateOf } from './share-value.ts'

/** Samples and feeds are looked for this far back first, and without a bound only where that finds none. */
const USUAL_AGE = 26 * 3_600

/** What a wallet held of a vault at a moment, with the figures of that moment; what was not known then is undefined. */
export interface BalanceAt {
  vault: Vault
  /** Share base units. */
  balance: bigint
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
 * Every vault of which the account held shares at the moment, on every chain. Balances and figures are read side by side,
 * of all vaults that the account ever held.
 */
export async function readBalancesAt(
  account: string,
  at: number,
  interval: ApyInterval,
  context: EndpointContext,
): Promise<BalanceAt[]> {
  const { deps, catalogue, signal } = context
  const ever = new Map<string, Vault>()
  for (const row of await ask(deps.clickhouse, newestBalances, { account }, signal)) {
    const vault = catalogue.find(row.chain_id, row.vault)
    if (vault) ever.set(keyOf(row.chain_id, row.vault), vault)
  }
  const [balances, figures] = await Promise.all([
    readBalances(account, [...ever.values()], at, context),
    readFiguresAt([...ever.values()], at, context),
  ])
  const held = [...ever].flatMap(([key, vault]) => {
    const balance = balances.get(key) ?? 0n
    return balance > 0n ? [{ vault, balance }] : []
  })
  return Promise.all(
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
      return {
        ...known,
        tvlUsd,
        apy: rate(apysOf(base)[interval], reward[interval]),
        apys: { '1day': total('1day'), '7day': total('7day'), '30day': total('30day') },
      }
    }),
  )
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
  feeds: Map<string, number>
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
  const figures: FiguresAt = { plans, states: new Map(), apys: new Map(), feeds: new Map() }
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
      for (const row of feeds) figures.feeds.set(keyOf(chain, row.feed), row.price)
    }),
  )
  return figures
}

/** Asks with a bound on age, then without for those that had nothing in it. */
async function recentFirst<T extends { vault: string }>(
  names: string[],
  at: number,
  read: (names: string[], since: number) => Promise<T[]>,
): Promise<T[]> {
  const recent = await inChunks(names, chunk => read(chunk, Math.max(0, at - USUAL_AGE)))
  const found = new Set(recent.map(({ vault }) => vault))
  const missing = names.filter(name => !found.has(name))
  return [...recent, ...(await inChunks(missing, chunk => read(chunk, 0)))]
}

function describe(vault: Vault, balance: bigint, figures: FiguresAt): Omit<BalanceAt, 'apy' | 'apys'> {
  const key = keyOf(vault.state.chainId, vault.state.address)
  const state = figures.states.get(key)
  const assetPrice = priceOf(
    figures.plans.get(vault.asset.key),
    (chainId, inner) => figures.states.get(keyOf(chainId, inner))?.share_price ?? undefined,
    (chainId, feed) => figures.feeds.get(keyOf(chainId, feed)),
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
  const day = row?.apy_1d ?? row?.apy_1h ?? undefined
  const week = row?.apy_7d ?? day
  return { '1day': day, '7day': week, '30day': row?.apy_30d ?? week }
}
