import type { Face } from '../../db/faces.ts'
import type { ChainMoment, Moment } from '../moment/snapshot.ts'
import { EMPTY_MOMENT, momentOfFace } from '../moment/snapshot.ts'
import type { AssetInfo } from './assets.ts'
import { FactBook } from './facts.ts'
import type { Order, SortKey } from './orders.ts'

import { EMPTY_ORDER, SORT_KEYS } from './orders.ts'
import type { CuratorInfo, ProtocolInfo, Vault } from './vault.ts'

export const keyOf = (chainId: number, address: string) => `${chainId}:${address}`

export interface CatalogueParts {
  moment: Moment
  facts: FactBook
  /** Index of a vault by `chain:address`; grows only and is shared by all catalogues. */
  index: ReadonlyMap<string, number>
  vaults: readonly (Vault | undefined)[]
  assets: ReadonlyMap<string, AssetInfo>
  /** Vaults with an identifier that is not their address, by `chain:identifier`. */
  named: ReadonlyMap<string, number>
  /** USD prices of the chains' own coins that facts lead to, by chain. */
  coins: ReadonlyMap<number, number>
  /** USD prices of assets of chains of another kind that facts lead to, by `chain:address`. */
  quoted: ReadonlyMap<string, number>
  identity: readonly Vault[]
  orders: Readonly<Record<SortKey, Order>>
  /** Chains on which this process can prepare transactions. */
  transactsOn: ReadonlySet<number>
}

/** All vaults at one moment. Never changed: a request that holds one sees one moment, however long it takes. */
export class Catalogue {
  readonly moment: Moment
  readonly facts: FactBook
  readonly identity: readonly Vault[]
  readonly assets: ReadonlyMap<string, AssetInfo>
  readonly parts: CatalogueParts
  private readonly lazy: { all?: Shown; vouchedFor?: Shown }

  constructor(parts: CatalogueParts, same?: Catalogue) {
    this.parts = parts
    this.lazy = same?.lazy ?? {}
    this.moment = parts.moment
    this.facts = parts.facts
    this.identity = parts.identity
    this.assets = parts.assets
  }

  static empty(transactsOn: ReadonlySet<number> = new Set()): Catalogue {
    return new Catalogue({
      moment: EMPTY_MOMENT,
      facts: new FactBook(),
      index: new Map(),
      vaults: [],
      assets: new Map(),
      named: new Map(),
      coins: new Map(),
      quoted: new Map(),
      identity: [],
      orders: Object.fromEntries(SORT_KEYS.map(key => [key, EMPTY_ORDER])) as Record<SortKey, Order>,
      transactsOn,
    })
  }

  /** The same vaults after other faces than the core moved. */
  withMoment(moment: Moment): Catalogue {
    return new Catalogue({ ...this.parts, moment }, this)
  }

  get size(): number {
    return this.identity.length
  }

  /** A vault by address (lower-case) or other identifier. */
  find(chainId: number, vaultId: string): Vault | undefined {
    const { index, named, vaults } = this.parts
    const key = keyOf(chainId, vaultId)
    const at = index.get(key) ?? named.get(key)
    return at === undefined ? undefined : vaults[at]
  }

  asset(chainId: number, address: string): AssetInfo | undefined {
    return this.assets.get(keyOf(chainId, address))
  }

  /** USD price of a chain's own coin by what facts say of it or of its wrapped form, whether or not a vault holds that. */
  coinPrice(chainId: number): number | undefined {
    return this.parts.coins.get(chainId)
  }

  /** USD price of an asset of a chain of another kind, by what facts say of it. */
  quotedPrice(chainId: number, address: string): number | undefined {
    return this.parts.quoted.get(keyOf(chainId, address))
  }

  order(key: SortKey): Order {
    return this.parts.orders[key]
  }

  /** Where a chain stands for answers of a face; undefined where it is not served by it. */
  chain(chainId: number, face: Face = 'core'): ChainMoment | undefined {
    return momentOfFace(this.moment, chainId, face)
  }

  /** The vaults that an answer may be made of: without those that nobody vouches for, unless they are wanted too. */
  shown(withUnlisted: boolean): Shown {
    const which = withUnlisted ? 'all' : 'vouchedFor'
    this.lazy[which] ??= new Shown(this, withUnlisted)
    return this.lazy[which]
  }
}

/** Gives the newest catalogue; implemented by the keeper, and by tests that hold one fixed. */
export interface CatalogueSource {
  /** False while the read models are not whole. */
  readonly isServed: boolean
  /** @throws IncompleteError where it is not served */
  current(): Catalogue
}

/**
 * The vaults that an answer may be made of, and what is to be said of all of them together: every one, or those that the
 * registry or a factory that it names vouches for.
 */
export class Shown {
  /** By identity. */
  readonly vaults: readonly Vault[]
  /** Those that nobody vouches for, where they are not shown. */
  readonly leftOut: readonly Vault[]
  readonly withUnlisted: boolean
  readonly catalogue: Catalogue
  private readonly lazy: {
    tags?: string[]
    protocols?: ProtocolInfo[]
    curators?: CuratorInfo[]
    symbols?: Set<string>
    identifiers?: Set<string>
    protocolNames?: Set<string>
    assetKeys?: Set<string>
    listedAssets?: Set<string>
    assets?: AssetInfo[]
  } = {}

  constructor(catalogue: Catalogue, withUnlisted: boolean) {
    this.catalogue = catalogue
    this.withUnlisted = withUnlisted
    this.vaults = withUnlisted ? catalogue.identity : catalogue.identity.filter(vault => this.has(vault))
    this.leftOut = withUnlisted ? [] : catalogue.identity.filter(vault => !this.has(vault))
  }

  has({ standing }: Vault): boolean {
    return this.withUnlisted || standing !== 'found'
  }

  tags(): string[] {
    this.lazy.tags ??= [...new Set(this.vaults.flatMap(vault => vault.facts.tags ?? []))].sort()
    return this.lazy.tags
  }

  protocols(): ProtocolInfo[] {
    this.lazy.protocols ??= distinct(
      this.vaults.map(vault => vault.protocol),
      protocol => protocol.protocolId ?? protocol.name,
    )
    return this.lazy.protocols
  }

  curators(): CuratorInfo[] {
    this.lazy.curators ??= distinct(
      this.vaults.map(vault => vault.curator).filter(curator => curator !== undefined),
      curator => curator.name,
    )
    return this.lazy.curators
  }

  /** Assets of vaults, by chain and symbol. */
  assets(): AssetInfo[] {
    this.lazy.assets ??= [...this.catalogue.assets.values()]
      .filter(({ key }) => this.assetKeys().has(key))
      .sort(
        (a, b) =>
          a.chainId - b.chainId ||
          (a.symbol < b.symbol ? -1 : a.symbol > b.symbol ? 1 : a.address < b.address ? -1 : 1),
      )
    return this.lazy.assets
  }

  /** Whether its symbol means what it says: a vault that is shown takes it, or the registry knows it. */
  isNamed(asset: AssetInfo): boolean {
    return this.withUnlisted || this.assetKeys().has(asset.key) || asset.isCurated
  }

  /** Whether its code may be called with others: it has a price, or a listed vault takes it. */
  isTrusted(asset: { key: string; price?: number | undefined }): boolean {
    this.lazy.listedAssets ??= new Set(
      this.vaults.filter(({ standing }) => standing === 'listed').map(({ asset }) => asset.key),
    )
    return asset.price !== undefined || this.lazy.listedAssets.has(asset.key)
  }

  /** Lower-case symbols of all assets that may be named by them: what a filter may say. */
  symbols(): Set<string> {
    this.lazy.symbols ??= new Set(
      [...this.catalogue.assets.values()]
        .filter(asset => this.isNamed(asset))
        .map(({ symbol }) => symbol.toLowerCase()),
    )
    return this.lazy.symbols
  }

  /** Whether a symbol, an address or a CAIP-19 identifier is that of an asset. */
  knowsAsset(name: string): boolean {
    const word = name.toLowerCase()
    if (this.symbols().has(word)) return true
    this.lazy.identifiers ??= new Set(
      [...this.catalogue.assets.values()].flatMap(({ address, wire }) => [
        address,
        wire.assetCaip.toLowerCase(),
      ]),
    )
    return this.lazy.identifiers.has(word)
  }

  /** Lower-case protocol names and ids. */
  protocolNames(): Set<string> {
    this.lazy.protocolNames ??= new Set(
      this.protocols().flatMap(({ name, protocolId }) =>
        protocolId ? [name.toLowerCase(), protocolId.toLowerCase()] : [name.toLowerCase()],
      ),
    )
    return this.lazy.protocolNames
  }

  private assetKeys(): Set<string> {
    this.lazy.assetKeys ??= new Set(this.vaults.map(({ asset }) => asset.key))
    return this.lazy.assetKeys
  }
}

function distinct<T>(items: readonly T[], key: (item: T) => string): T[] {
  const found = new Map<string, T>()
  for (const item of items) if (!found.has(key(item))) found.set(key(item), item)
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item)
}
