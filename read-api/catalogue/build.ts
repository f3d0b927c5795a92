import { factsOfChain, networkOfChain } from '../../db/networks.ts'
import { log } from '../../db/process/log.ts'
import { protocolName } from '../../db/protocols.ts'
import { SOLANA } from '../../db/streams.ts'
import { NATIVE_ADDRESS } from '../chain/native-coins.ts'
import type { Moment } from '../moment/snapshot.ts'
import type { AssetInfo } from './assets.ts'
import { assetWire, deriveAsset } from './assets.ts'
import { backingOf, isBelieved, marketsWithCaps } from './backing.ts'
import { Catalogue, keyOf } from './catalogue.ts'
import type { FactBook } from './facts.ts'
import type { Order, SortKey } from './orders.ts'
import { byIdentity, reorder, reorderBy, SORT_KEYS } from './orders.ts'
import { movedPoints, NO_POINTS } from './peers.ts'
import { MAX_DEPTH, planPrice, priceOf } from './prices.ts'
import type { RawState } from './raw.ts'
import type { PricedReward } from './rewards.ts'
import type { SharedPoints } from './score.ts'
import type { CuratorInfo, ProtocolInfo } from './vault.ts'
import { Vault } from './vault.ts'
import type { RewardStream } from './vault-state.ts'
import { standingOf } from './vault-state.ts'

/**
 * The catalogue after a move: only vaults whose own state, facts, asset price or inner vault changed, for which a
 * moment passed (a flag ended), or whose standing among their peers moved are derived again; everything else is taken
 * over. Empties `raw.moved`.
 */
export function advanceCatalogue(
  before: Catalogue,
  raw: RawState,
  facts: FactBook,
  moment: Moment,
): Catalogue {
  const factsChanged = facts !== before.facts
  const assets = priceAssets(before, raw, facts, moment, factsChanged || raw.vaultsChanged)

  const { index, vaults } = withNew(before, raw.moved)

  let dirty = new Set<string>(factsChanged ? raw.states.keys() : raw.moved)
  if (!factsChanged) addRepriced(dirty, before, assets, raw)
  addElapsed(dirty, before.parts.vaults, moment)
  spread(dirty, raw)

  const changed = new Set<number>()
  const profiles = profileBook(facts)
  const prices = rewardPrices(raw, facts, moment)
  let points: ReadonlyMap<Vault, SharedPoints> = new Map()
  let done = new Set<string>()
  const innerOf = innerVaults(raw)
  const believed = believedStates(raw, facts)
  const isKnownMarket = knownMarkets(raw, facts)
  const make = (key: string, at: number): Vault | undefined => {
    const known = vaults[at]
    const state = raw.states.get(key)
    const network = state && networkOfChain(state.chainId)
    const asset = state && assets.get(keyOf(state.chainId, state.asset))
    if (!state || !network || !asset || facts.isIgnored(state.chainId, state.address)) return undefined
    const own = facts.vault(state.chainId, state.address)
    const inner = index.get(innerOf(key) ?? '')
    return new Vault({
      index: at,
      now: moment.chains.get(state.chainId)?.blockTime ?? 0,
      state,
      network,
      facts: own,
      asset,
      protocol: profiles.protocol(own.listed?.protocol ?? protocolName(state.protocol), own.listed),
      curator: own.curator === undefined ? undefined : profiles.curator(own.curator),
      inner: inner === undefined ? undefined : vaults[inner],
      backing: isBelieved(state, own) ? undefined : backingOf(state, believed, isKnownMarket),
      rewards: prices(state.chainId, [...(own.rewards ?? []), ...(state.streams ?? [])]),
      transacts: before.parts.transactsOn.has(state.chainId),
      shared: known ? (points.get(known) ?? known.shared) : NO_POINTS,
    })
  }
  /** The vault and those its asset is nested in that are not derived yet, the innermost first. */
  const derive = (key: string) => {
    const path: string[] = []
    for (let next: string | undefined = key; next !== undefined && dirty.has(next) && !done.has(next); ) {
      done.add(next)
      path.push(next)
      next = innerOf(next)
    }
    for (const one of path.reverse()) {
      const at = index.get(one)
      if (at === undefined) continue
      changed.add(at)
      vaults[at] = attempt(one, () => make(one, at))
    }
  }
  for (const key of dirty) derive(key)
  if (changed.size > 0) {
    points = movedPoints(vaults)
    dirty = new Set([...points.keys()].map(({ state }) => keyOf(state.chainId, state.address)))
    done = new Set()
    spread(dirty, raw)
    for (const key of dirty) derive(key)
  }

  const moves = [...changed].map(at => ({ from: before.parts.vaults[at], to: vaults[at] }))
  const named = factsChanged || raw.vaultsChanged ? nameVaults(vaults) : before.parts.named
  raw.moved.clear()
  raw.vaultsChanged = false
  return new Catalogue({
    moment,
    facts,
    index,
    vaults,
    assets,
    named,
    coins: coinPrices(raw, facts, moment),
    quoted: quotedPrices(raw, facts, moment),
    transactsOn: before.parts.transactsOn,
    identity: reorder(before.identity, moves, byIdentity),
    orders: Object.fromEntries(
      SORT_KEYS.map(key => [key, reorderBy(before.order(key), key, moves)]),
    ) as Record<SortKey, Order>,
  })
}

/** What cannot be made of one vault is said, and is nobody else's loss. */
function attempt(key: string, make: () => Vault | undefined): Vault | undefined {
  try {
    return make()
  } catch (err) {
    log.error({ vault: key, err }, 'a vault cannot be derived and is left out')
    return undefined
  }
}

/**
 * Gives the vault whose share a vault's asset is, by key. None where that leads through more vaults than prices are
 * followed through, or in a circle: strangers nest as deep as they like.
 */
function innerVaults(raw: RawState): (key: string) => string | undefined {
  const step = (key: string) => {
    const state = raw.states.get(key)
    const inner = state && keyOf(state.chainId, state.asset)
    return inner !== undefined && raw.states.has(inner) ? inner : undefined
  }
  return key => {
    const inner = step(key)
    let last = inner
    for (let depth = 0; last !== undefined; depth++) {
      if (depth === MAX_DEPTH) return undefined
      last = step(last)
    }
    return inner
  }
}

/** Vaults whose asset is the share of a changed vault change with it, at any depth. */
function spread(dirty: Set<string>, raw: RawState): void {
  // Sets iterate over what is added meanwhile.
  for (const key of dirty) for (const outer of raw.byAsset.get(key) ?? []) dirty.add(outer)
}

/** The places of vaults, and of those that come now: their index is the catalogue's for good. */
function withNew(before: Catalogue, keys: Iterable<string>) {
  const index = before.parts.index as Map<string, number>
  const vaults = before.parts.vaults.slice()
  for (const key of keys) {
    if (index.has(key)) continue
    index.set(key, index.size)
    vaults.push(undefined)
  }
  return { index, vaults }
}

/** Vaults whose asset has another price, or is described otherwise. */
function addRepriced(
  dirty: Set<string>,
  before: Catalogue,
  assets: ReadonlyMap<string, AssetInfo>,
  raw: RawState,
): void {
  if (assets === before.assets) return
  for (const [key, asset] of assets)
    if (asset !== before.assets.get(key)) for (const vault of raw.byAsset.get(key) ?? []) dirty.add(vault)
}

/** Vaults of which a moment has passed since they were derived, and those that rewards flow to: these change with time. */
function addElapsed(dirty: Set<string>, vaults: readonly (Vault | undefined)[], moment: Moment): void {
  for (const vault of vaults) {
    if (!vault) continue
    const { chainId, address } = vault.state
    const now = moment.chains.get(chainId)?.blockTime ?? 0
    const { from, until } = vault.holds
    if (now < from || now >= until || vault.rewards.length > 0 || vault.unpricedRewards.length > 0)
      dirty.add(keyOf(chainId, address))
  }
}

/** Looks up states of vaults that are believed as to what they have; one that is ignored says nothing. */
function believedStates(raw: RawState, facts: FactBook) {
  return (chainId: number, vault: string) => {
    const state = raw.states.get(keyOf(chainId, vault))
    const isIts = state && isBelieved(state, facts.vault(chainId, vault)) && !facts.isIgnored(chainId, vault)
    return isIts ? state : undefined
  }
}

/** Markets that the registry lists, and those that a listed vault has a cap for. */
function knownMarkets(raw: RawState, facts: FactBook) {
  let capped: Set<string> | undefined
  return (chainId: number, market: string): boolean => {
    if (facts.market(chainId, market).listed) return true
    capped ??= new Set(
      [...raw.states.values()].flatMap(state =>
        facts.vault(state.chainId, state.address).listed
          ? marketsWithCaps(state.settings).map(of => keyOf(state.chainId, of))
          : [],
      ),
    )
    return capped.has(keyOf(chainId, market))
  }
}

function vouchedStates(raw: RawState, facts: FactBook) {
  return (chainId: number, vault: string) => {
    const state = raw.states.get(keyOf(chainId, vault))
    const isVouchedFor = state && standingOf(state, facts.vault(chainId, vault)) !== 'found'
    return isVouchedFor && !facts.isIgnored(chainId, vault) ? state : undefined
  }
}

/** What feeds said last, reckoned from the time of their chain: what is older than it may be is no price. */
function feedPrices(raw: RawState, moment: Moment) {
  return (chainId: number, feed: string, age: number): number | undefined => {
    const report = raw.feeds.get(keyOf(chainId, feed))
    const now = moment.chains.get(chainId)?.blockTime ?? 0
    return report && now - report.at <= age ? report.price : undefined
  }
}

/** Gives reward streams the price of their token, which need not be the asset of any vault. */
function rewardPrices(raw: RawState, facts: FactBook, moment: Moment) {
  const vouchedFor = vouchedStates(raw, facts)
  const sharePrice = (chainId: number, vault: string) =>
    raw.states.get(keyOf(chainId, vault))?.sample?.sharePrice
  const feedPrice = feedPrices(raw, moment)
  return (chainId: number, rewards: readonly RewardStream[]): PricedReward[] => {
    const network = networkOfChain(chainId)
    if (!network || rewards.length === 0) return []
    return rewards.map(fact => {
      const { address } = fact.asset
      const price = priceOf(planPrice(facts, vouchedFor, chainId, address), sharePrice, feedPrice)
      const asset = assetWire(network, { chainId, ...fact.asset }, facts.asset(chainId, address), price)
      return { fact, asset, price }
    })
  }
}

/** By a fact about the coin itself (under the address that stands for it), else about its wrapped form. */
function coinPrices(raw: RawState, facts: FactBook, moment: Moment): Map<number, number> {
  const feedPrice = feedPrices(raw, moment)
  const prices = new Map<number, number>()
  for (const chainId of moment.chains.keys()) {
    const wrapped = factsOfChain(chainId)?.wrappedNative
    for (const token of [NATIVE_ADDRESS, ...(wrapped ? [wrapped] : [])]) {
      const plan = planPrice(facts, () => undefined, chainId, token)
      const price = priceOf(plan, () => undefined, feedPrice)
      if (price === undefined) continue
      prices.set(chainId, price)
      break
    }
  }
  return prices
}

/** Of Solana's assets, whose feeds are on other chains. */
function quotedPrices(raw: RawState, facts: FactBook, moment: Moment): Map<string, number> {
  const feedPrice = feedPrices(raw, moment)
  const chainId = SOLANA.id
  return new Map(
    facts.assetsOf(chainId).flatMap(asset => {
      const price = priceOf(
        planPrice(facts, () => undefined, chainId, asset),
        () => undefined,
        feedPrice,
      )
      return price === undefined ? [] : [[keyOf(chainId, asset), price] as const]
    }),
  )
}

function priceAssets(
  before: Catalogue,
  raw: RawState,
  facts: FactBook,
  moment: Moment,
  replan: boolean,
): ReadonlyMap<string, AssetInfo> {
  const vouchedFor = vouchedStates(raw, facts)
  const sharePrice = (chainId: number, vault: string) =>
    raw.states.get(keyOf(chainId, vault))?.sample?.sharePrice
  const feedPrice = feedPrices(raw, moment)
  const assets = new Map<string, AssetInfo>()
  let moved = replan
  for (const [key, metadata] of raw.assets) {
    const network = networkOfChain(metadata.chainId)
    if (!network) continue
    const known = before.assets.get(key)
    const plan =
      known && !replan ? known.plan : planPrice(facts, vouchedFor, metadata.chainId, metadata.address)
    const price = priceOf(plan, sharePrice, feedPrice)
    if (known && facts === before.facts && known.price === price && samePlan(known.plan, plan)) {
      assets.set(key, known)
    } else {
      moved = true
      assets.set(
        key,
        deriveAsset(network, metadata, facts.asset(metadata.chainId, metadata.address), plan, price),
      )
    }
  }
  return moved ? assets : before.assets
}

function samePlan(a: unknown, b: unknown): boolean {
  return a === b || JSON.stringify(a) === JSON.stringify(b)
}

function nameVaults(vaults: readonly (Vault | undefined)[]): Map<string, number> {
  const named = new Map<string, number>()
  for (const vault of vaults) {
    if (vault && vault.vaultId !== vault.state.address)
      named.set(keyOf(vault.state.chainId, vault.vaultId), vault.index)
  }
  return named
}

function productOf(name: string, product: string | undefined, version: string | undefined) {
  if (product === undefined && version === undefined) return {}
  const protocolId = [name, product, version].filter(part => part !== undefined).join('-')
  return { protocolId, ...(product ? { product } : {}), ...(version ? { version } : {}) }
}

/** One object per protocol and curator, shared by their vaults. */
const books = new WeakMap<FactBook, Profiles>()

interface Profiles {
  /** `listed`: product and version where a vault's own facts name them. */
  protocol(name: string, listed?: { product?: string; version?: string }): ProtocolInfo
  curator(name: string): CuratorInfo
}

function profileBook(facts: FactBook): Profiles {
  const known = books.get(facts)
  if (known) return known
  const protocols = new Map<string, ProtocolInfo>()
  const curators = new Map<string, CuratorInfo>()
  const book: Profiles = {
    protocol(name, listed) {
      const { product, version } = listed ?? {}
      const key = JSON.stringify([name, product, version])
      const known = protocols.get(key)
      if (known) return known
      const info: ProtocolInfo = {
        name,
        ...facts.protocol(name).profile,
        ...productOf(name, product, version),
      }
      protocols.set(key, info)
      return info
    },
    curator(name) {
      const info = curators.get(name) ?? { name, ...facts.curator(name).profile }
      curators.set(name, info)
      return info
    },
  }
  books.set(facts, book)
  return book
}
