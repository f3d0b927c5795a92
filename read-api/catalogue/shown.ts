import type { AssetInfo } from './assets.ts'
import type { Catalogue } from './catalogue.ts'
import type { CuratorInfo, ProtocolInfo, Vault } from './vault.ts'

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
