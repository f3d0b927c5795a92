import type { ChainMoment, Moment } from '../snapshot.ts'
import { EMPTY_MOMENT } from '../snapshot.ts'
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
  private readonly lazy: {
    tags?: string[]
    protocols?: ProtocolInfo[]
    curators?: CuratorInfo[]
    symbols?: Set<string>
    protocolNames?: Set<string>
    assetList?: AssetInfo[]
  } = {}

  constructor(parts: CatalogueParts) {
    this.parts = parts
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
      identity: [],
      orders: Object.fromEntries(SORT_KEYS.map(key => [key, EMPTY_ORDER])) as Record<SortKey, Order>,
      transactsOn,
    })
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

  order(key: SortKey): Order {
    return this.parts.orders[key]
  }

  chain(chainId: number): ChainMoment | undefined {
    return this.moment.chains.get(chainId)
  }

  tags(): string[] {
    this.lazy.tags ??= [...new Set(this.identity.flatMap(vault => vault.facts.tags ?? []))].sort()
    return this.lazy.tags
  }

  protocols(): ProtocolInfo[] {
    this.lazy.protocols ??= distinct(
      this.identity.map(vault => vault.protocol),
      protocol => protocol.protocolId ?? protocol.name,
    )
    return this.lazy.protocols
  }

  curators(): CuratorInfo[] {
    this.lazy.curators ??= distinct(
      this.identity.map(vault => vault.curator).filter(curator => curator !== undefined),
      curator => curator.name,
    )
    return this.lazy.curators
  }

  /** Assets of vaults, by chain and symbol. */
  assetList(): AssetInfo[] {
    this.lazy.assetList ??= [...this.assets.values()]
      .filter(({ isLentOnly }) => !isLentOnly)
      .sort(
        (a, b) =>
          a.chainId - b.chainId ||
          (a.symbol < b.symbol ? -1 : a.symbol > b.symbol ? 1 : a.address < b.address ? -1 : 1),
      )
    return this.lazy.assetList
  }

  /** Lower-case symbols of all assets: what a filter may name. */
  symbols(): Set<string> {
    this.lazy.symbols ??= new Set([...this.assets.values()].map(({ symbol }) => symbol.toLowerCase()))
    return this.lazy.symbols
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
}

function distinct<T>(items: readonly T[], key: (item: T) => string): T[] {
  const found = new Map<string, T>()
  for (const item of items) if (!found.has(key(item))) found.set(key(item), item)
  return [...found].sort(([a], [b]) => (a < b ? -1 : 1)).map(([, item]) => item)
}

/** Gives the newest catalogue; implemented by the keeper, and by tests that hold one fixed. */
export interface CatalogueSource {
  current(): Catalogue
}
