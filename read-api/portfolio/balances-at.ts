import { isRebasing } from '../../db/protocols.ts'
import { HOUR } from '../../db/units.ts'
import { keyOf } from '../catalogue/catalogue.ts'
import { legsOf, type PricePlan, priceOf } from '../catalogue/prices.ts'
import { NO_REWARD } from '../catalogue/rewards.ts'
import type { Vault } from '../catalogue/vault.ts'
import { type RateWire, rate } from '../catalogue/wire.ts'
import { usdOf } from '../http/amounts.ts'
import type { EndpointContext } from '../http/endpoint.ts'
import type { z } from '../http/zod.ts'
import { inChunks } from '../moment/chunks.ts'
import { refuseUnfilled } from '../moment/filling.ts'
import { ask, type NamedQuery } from '../moment/query.ts'
import { asOfParameter } from '../moment/snapshot.ts'
import type { ApyInterval } from '../vaults/history-queries.ts'
import { pastRewards } from '../vaults/past-rewards.ts'
import { plansOver } from '../vaults/price-history.ts'
import { assetsOf, shareStateOf } from '../vaults/share-value.ts'
import { type Head, headsOf, isAhead } from './present-balances.ts'
import {
  type ApyRow,
  apysAt,
  feedsAt,
  newestBalances,
  type StateRow,
  statesAt,
  theseBalancesAt,
} from './queries.ts'

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
 * were. Balances and figures are read side by side, of all vaults that the account ever held.
 */
export async function readBalancesAt(
  account: string,
  at: number,
  interval: ApyInterval,
  context: EndpointContext,
): Promise<{ balances: BalanceAt[]; leftOut: Vault[] }> {
  const { catalogue, shown } = context
  const ever = (await headsOf(account, context)).flatMap(head => {
    const vault = catalogue.find(head.chain_id, head.vault)
    return vault ? [{ head, vault, key: keyOf(head.chain_id, head.vault) }] : []
  })
  const [balances, figures] = await Promise.all([
    readBalances(
      account,
      ever.map(({ head }) => head),
      at,
      context,
    ),
    readFiguresAt(
      ever.flatMap(({ vault }) => (shown.has(vault) ? [vault] : [])),
      at,
      context,
    ),
  ])
  const all = ever.flatMap(({ vault, key }) => {
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

/** Share base units, by the vault's key. Of a vault that the account did not touch after the moment the head says it. */
async function readBalances(
  account: string,
  heads: readonly Head[],
  at: number,
  context: EndpointContext,
): Promise<Map<string, bigint>> {
  refuseUnfilled(
    context.deps.clickhouse,
    newestBalances.sql,
    heads.map(({ chain_id }) => chain_id),
  )
  const isStanding = (head: Head) => head.at <= at && !isAhead(head, context.catalogue)
  const standing = heads.filter(isStanding)
  const moved = heads.filter(head => !isStanding(head))
  const places = placesOf(moved.map(({ chain_id, vault }) => ({ chainId: chain_id, address: vault })))
  const rows = await inChunks([...places.keys()], keys =>
    askAt(theseBalancesAt, { account, at }, keys, places, context),
  )
  return new Map([...standing, ...rows].map(row => [keyOf(row.chain_id, row.vault), BigInt(row.balance)]))
}

/** Something with an address on a chain. */
interface Place {
  chainId: number
  address: string
}

const placesOf = (places: readonly Place[]): ReadonlyMap<string, Place> =>
  new Map(places.map(place => [keyOf(place.chainId, place.address), place]))

/**
 * Asks about places of several chains at once: what has the address of one of them on the chain of another comes with it.
 * @throws FillingError
 */
function askAt<R extends z.ZodType>(
  query: NamedQuery<R>,
  parameters: Record<string, unknown>,
  keys: readonly string[],
  places: ReadonlyMap<string, Place>,
  { deps, catalogue, signal }: EndpointContext,
): Promise<z.output<R>[]> {
  const some = keys.flatMap(key => places.get(key) ?? [])
  const chains = new Set(some.map(({ chainId }) => chainId))
  refuseUnfilled(deps.clickhouse, query.sql, chains)
  const names = [...new Set(some.map(({ address }) => address))]
  return ask(
    deps.clickhouse,
    query,
    { ...parameters, names, as_of: asOfParameter(catalogue.moment, chains) },
    signal,
  )
}

interface FiguresAt {
  /** How prices were made then, by the asset's key. */
  plans: Map<string, PricePlan | undefined>
  states: Map<string, StateRow>
  apys: Map<string, ApyRow>
  feeds: Map<string, { price: number; reported_at: number }>
  at: number
}

/** States, APYs and feeds at a moment: of these vaults, and of whatever their assets' prices are made of. */
async function readFiguresAt(
  vaults: readonly Vault[],
  at: number,
  context: EndpointContext,
): Promise<FiguresAt> {
  const plans = new Map(
    vaults.map(({ asset }) => [
      asset.key,
      plansOver(context.catalogue, asset, { from: at, to: at })[0]?.plan,
    ]),
  )
  const legs = [...plans.values()].flatMap(plan => (plan ? legsOf(plan) : []))
  const own = vaults.map(({ state }) => ({ chainId: state.chainId, address: state.address }))
  const inner = legs.flatMap(leg => ('feed' in leg ? [] : [{ chainId: leg.chainId, address: leg.vault }]))
  const fed = legs.flatMap(leg => ('feed' in leg ? [{ chainId: leg.chainId, address: leg.feed }] : []))
  const newest = async <R extends z.ZodType<{ chain_id: number }>>(
    query: NamedQuery<R>,
    of: readonly Place[],
    nameOf: (row: z.output<R>) => string,
  ) => {
    const places = placesOf(of)
    const keyOfRow = (row: z.output<R>) => keyOf(row.chain_id, nameOf(row))
    const rows = await recentFirst([...places.keys()], at, keyOfRow, (keys, since) =>
      askAt(query, { at, since }, keys, places, context),
    )
    return new Map(rows.map(row => [keyOfRow(row), row]))
  }
  const [states, apys, feeds] = await Promise.all([
    newest(statesAt, [...own, ...inner], ({ vault }) => vault),
    newest(apysAt, own, ({ vault }) => vault),
    newest(feedsAt, fed, ({ feed }) => feed),
  ])
  return { plans, states, apys, feeds, at }
}

/** Asks with a bound on age, then without for those that had nothing in it. */
export async function recentFirst<T>(
  names: string[],
  at: number,
  nameOf: (row: T) => string,
  read: (names: string[], since: number) => Promise<T[]>,
): Promise<T[]> {
  const recent = await inChunks(names, chunk => read(chunk, Math.max(0, at - USUAL_AGE)))
  const found = new Set(recent.map(nameOf))
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
